
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'jobdoctor' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'jobdoctor'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'jobdoctor' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Can jobdoctor do its work here: preset, rights, indexes, encodings')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Make a demonstration database with stuck jobs and walk through it')
            [CompletionResult]::new('env', 'env', [CompletionResultType]::ParameterValue, 'Show every setting in force and where it came from')
            [CompletionResult]::new('health', 'health', [CompletionResultType]::ParameterValue, 'Tell a monitoring system how the queue is, as its plugins do')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'List what was done, or tell of one run')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Create the reference schema, or the ledger')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a manual page')
            [CompletionResult]::new('owners', 'owners', [CompletionResultType]::ParameterValue, 'List who holds what, and who is dead')
            [CompletionResult]::new('presets', 'presets', [CompletionResultType]::ParameterValue, 'List the queues that are known, or explain one')
            [CompletionResult]::new('reclaim', 'reclaim', [CompletionResultType]::ParameterValue, 'Plan the return of stuck jobs, and with --apply carry it out')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a document')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Explain jobs: every rule, what it read, what would be done')
            [CompletionResult]::new('stale', 'stale', [CompletionResultType]::ParameterValue, 'List the claims that are stuck, longest silent first')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count jobs by queue and state, or show how long they run')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'One pass for automation: from cron, or with --restart before workers start')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Plan to take a run back, and with --apply give back every job that nobody has touched since')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'jobdoctor;check' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;demo' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;env' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;health' {
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Warn outside of these: a range of how many claims are stuck, or any of stuck=RANGE, silence=RANGE (the longest silence of a stuck claim, in seconds or as 10m) and share=RANGE (how many of a hundred claims are stuck), with commas in between or repeated. A RANGE is [@][START:]END: 10 is 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ turns it around [default: 0, so that any stuck claim is a warning]')
            [CompletionResult]::new('--warning', '--warning', [CompletionResultType]::ParameterName, 'Warn outside of these: a range of how many claims are stuck, or any of stuck=RANGE, silence=RANGE (the longest silence of a stuck claim, in seconds or as 10m) and share=RANGE (how many of a hundred claims are stuck), with commas in between or repeated. A RANGE is [@][START:]END: 10 is 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ turns it around [default: 0, so that any stuck claim is a warning]')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Critical outside of these')
            [CompletionResult]::new('--critical', '--critical', [CompletionResultType]::ParameterName, 'Critical outside of these')
            [CompletionResult]::new('--unreachable', '--unreachable', [CompletionResultType]::ParameterName, 'What it is if the database cannot be reached, or does not answer in time')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Held by owners that match (can be repeated)')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Held on this host, named whole (can be repeated)')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In this state, in the queue''s own words (can be repeated)')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;history' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'The N newest runs')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;init' {
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--print', '--print', [CompletionResultType]::ParameterName, 'Print the statements and run none')
            [CompletionResult]::new('--ledger', '--ledger', [CompletionResultType]::ParameterName, 'Create only the table jobdoctor_ledger, beside the tables of the queue that is there: from then on each move is recorded in it, in the same transaction')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;owners' {
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Held by owners that match (can be repeated)')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Held on this host, named whole (can be repeated)')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In this state, in the queue''s own words (can be repeated)')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'The N longest silent')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;presets' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file, for its mappings')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Explain one: its tables, what is alive, and column by column what is done')
            break
        }
        'jobdoctor;presets;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file, for its mappings')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--toml', '--toml', [CompletionResultType]::ParameterName, 'Print it as it is written')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;reclaim' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue')
            [CompletionResult]::new('--rule', '--rule', [CompletionResultType]::ParameterName, 'Act on this rule about trouble too, although the worker may still be running: deadline_passed, max_runtime or no_progress (can be repeated)')
            [CompletionResult]::new('--max-jobs', '--max-jobs', [CompletionResultType]::ParameterName, 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'Apply, or print a script, only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more')
            [CompletionResult]::new('--delay', '--delay', [CompletionResultType]::ParameterName, 'Jobs that go back to the queue may run this much later than now, at most 7d')
            [CompletionResult]::new('--jitter', '--jitter', [CompletionResultType]::ParameterName, 'Spread them over a window of this length, after --delay if there is one, at most 7d')
            [CompletionResult]::new('--max-stalls', '--max-stalls', [CompletionResultType]::ParameterName, 'Fail a job that was lost N times before, instead of giving it back again: 0 fails it at once, 1 at the second loss')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Afterwards watch the requeued jobs for so long, or until all have ended, and say how they stand; 3 if some are stuck again. Not counted against --timeout')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Held by owners that match (can be repeated)')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Held on this host, named whole (can be repeated)')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In this state, in the queue''s own words (can be repeated)')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'The N longest silent')
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'This job; a healthy one is held, never forced (can be repeated)')
            [CompletionResult]::new('--from-file', '--from-file', [CompletionResultType]::ParameterName, 'The jobs of a list: one id a line, or the lines of `-o jsonl`; - is standard input. An empty list means no job. What is healthy is held, as with --id')
            [CompletionResult]::new('--save-plan', '--save-plan', [CompletionResultType]::ParameterName, 'Keep the plan in a file, private to its user, to be looked at and carried out later with --plan')
            [CompletionResult]::new('--plan', '--plan', [CompletionResultType]::ParameterName, 'The jobs of a saved plan, judged as they were then: only those, and of them only the ones that have not changed since')
            [CompletionResult]::new('--alive-from', '--alive-from', [CompletionResultType]::ParameterName, 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight')
            [CompletionResult]::new('--look-file', '--look-file', [CompletionResultType]::ParameterName, 'Compare with the look saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight')
            [CompletionResult]::new('--confirm-after', '--confirm-after', [CompletionResultType]::ParameterName, 'Look twice, this long apart (1s to 1h), and move only what stood still in between')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Do it: without this, nothing is written')
            [CompletionResult]::new('--emit-sql', '--emit-sql', [CompletionResultType]::ParameterName, 'Print the guarded statements instead, for a change ticket: a script for psql or sqlite3 that does what --apply would do, one transaction a batch')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;schema' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;show' {
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;stale' {
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Held by owners that match (can be repeated)')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Held on this host, named whole (can be repeated)')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In this state, in the queue''s own words (can be repeated)')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'The N longest silent')
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'This job; a healthy one is held, never forced (can be repeated)')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Look again and again, with this pause in between: on a terminal in place, what is new marked + and what is gone marked -; with -o jsonl one line for each. Each look has its own time limit [default: 10s]')
            [CompletionResult]::new('--alive-from', '--alive-from', [CompletionResultType]::ParameterName, 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight')
            [CompletionResult]::new('--look-file', '--look-file', [CompletionResultType]::ParameterName, 'Compare with the look saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Only what is likely to have happened, and the counts: no list of jobs')
            [CompletionResult]::new('--exit-code', '--exit-code', [CompletionResultType]::ParameterName, 'End with 1 if stuck or unknown claims are found')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;stats' {
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'With --runtimes: jobs that ended within this time [default: 7d]')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('--textfile', '--textfile', [CompletionResultType]::ParameterName, 'Also keep the run''s metrics in this file, for the textfile collector of node_exporter: replaced whole, after a run that failed too. Counts every claim in flight, before anything is done. One file for each command and target')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--runtimes', '--runtimes', [CompletionResultType]::ParameterName, 'How long jobs ran that have ended well, by kind, and how many of them the threshold would have hit')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;sweep' {
            [CompletionResult]::new('--started-before', '--started-before', [CompletionResultType]::ParameterName, 'With --restart: only claims made before this instant, as in 2026-11-20T10:00:00Z, are dead; or before the boot of this host, which needs --host, --owner or --alive-from to say whose claims are this host''s. In a Linux container the boot is that of the host under it')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue')
            [CompletionResult]::new('--rule', '--rule', [CompletionResultType]::ParameterName, 'Act on this rule about trouble too, although the worker may still be running: deadline_passed, max_runtime or no_progress (can be repeated)')
            [CompletionResult]::new('--max-jobs', '--max-jobs', [CompletionResultType]::ParameterName, 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'Apply, or print a script, only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more')
            [CompletionResult]::new('--delay', '--delay', [CompletionResultType]::ParameterName, 'Jobs that go back to the queue may run this much later than now, at most 7d')
            [CompletionResult]::new('--jitter', '--jitter', [CompletionResultType]::ParameterName, 'Spread them over a window of this length, after --delay if there is one, at most 7d')
            [CompletionResult]::new('--max-stalls', '--max-stalls', [CompletionResultType]::ParameterName, 'Fail a job that was lost N times before, instead of giving it back again: 0 fails it at once, 1 at the second loss')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Afterwards watch the requeued jobs for so long, or until all have ended, and say how they stand; 3 if some are stuck again. Not counted against --timeout')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error')
            [CompletionResult]::new('--older', '--older', [CompletionResultType]::ParameterName, 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Of queues that match (can be repeated)')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Of kinds that match (can be repeated)')
            [CompletionResult]::new('--owner', '--owner', [CompletionResultType]::ParameterName, 'Held by owners that match (can be repeated)')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Held on this host, named whole (can be repeated)')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'In this state, in the queue''s own words (can be repeated)')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'The N longest silent')
            [CompletionResult]::new('--alive-from', '--alive-from', [CompletionResultType]::ParameterName, 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight')
            [CompletionResult]::new('--look-file', '--look-file', [CompletionResultType]::ParameterName, 'Compare with the look saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight')
            [CompletionResult]::new('--confirm-after', '--confirm-after', [CompletionResultType]::ParameterName, 'Look twice, this long apart (1s to 1h), and move only what stood still in between')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'End with 75 if a sweep of this queue has moved something within this time (at most 7d), on any host if the queue has a ledger, else on this one')
            [CompletionResult]::new('--lock-wait', '--lock-wait', [CompletionResultType]::ParameterName, 'Wait this long (at most 1h) while another sweep is at work, instead of ending with 75 at once')
            [CompletionResult]::new('--splay', '--splay', [CompletionResultType]::ParameterName, 'Sleep for a random part of this time (at most 1h) before anything is opened, so that hosts whose crons start together do not all come at once; does not count as --timeout')
            [CompletionResult]::new('--warn-above', '--warn-above', [CompletionResultType]::ParameterName, 'Warn, and name the owners, where more jobs than this are moved')
            [CompletionResult]::new('--report-file', '--report-file', [CompletionResultType]::ParameterName, 'Write what --json prints into this file at the end of every run, whole or not at all; of a run that fails, the error')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How stderr is written')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('--textfile', '--textfile', [CompletionResultType]::ParameterName, 'Also keep the run''s metrics in this file, for the textfile collector of node_exporter: replaced whole, after a run that failed too. Counts every claim in flight, before anything is done. One file for each command and target')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners, --alive-from or --started-before; never touches a claim made after the sweep began')
            [CompletionResult]::new('--all-owners', '--all-owners', [CompletionResultType]::ParameterName, 'With --restart: every owner is dead, and so are claims without one')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Do it: without this, nothing is written')
            [CompletionResult]::new('--emit-sql', '--emit-sql', [CompletionResultType]::ParameterName, 'Print the guarded statements instead, for a change ticket: a script for psql or sqlite3 that does what --apply would do, one transaction a batch')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;undo' {
            [CompletionResult]::new('--max-jobs', '--max-jobs', [CompletionResultType]::ParameterName, 'Refuse to give back more jobs than this')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error')
            [CompletionResult]::new('--db', '--db', [CompletionResultType]::ParameterName, 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'A target of the config file [env: JOBDOCTOR_TARGET]')
            [CompletionResult]::new('--preset', '--preset', [CompletionResultType]::ParameterName, 'The preset or mapping, instead of finding out')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'The schema of the queue''s tables (Postgres)')
            [CompletionResult]::new('--table', '--table', [CompletionResultType]::ParameterName, 'Another name for the table of jobs')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'What the preset cannot read from the database; `presets show NAME` lists its options')
            [CompletionResult]::new('--password-file', '--password-file', [CompletionResultType]::ParameterName, 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Give up after this long [default: 30s for looking, 10m for applying]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Do it: without this, nothing is written')
            [CompletionResult]::new('--network-files', '--network-files', [CompletionResultType]::ParameterName, 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no config file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --output json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No hints, summaries or warnings; errors and the report stay')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say what was found out about the database, and warn about how it is set up')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'jobdoctor;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Can jobdoctor do its work here: preset, rights, indexes, encodings')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a shell''s completion script')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Make a demonstration database with stuck jobs and walk through it')
            [CompletionResult]::new('env', 'env', [CompletionResultType]::ParameterValue, 'Show every setting in force and where it came from')
            [CompletionResult]::new('health', 'health', [CompletionResultType]::ParameterValue, 'Tell a monitoring system how the queue is, as its plugins do')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'List what was done, or tell of one run')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Create the reference schema, or the ledger')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a manual page')
            [CompletionResult]::new('owners', 'owners', [CompletionResultType]::ParameterValue, 'List who holds what, and who is dead')
            [CompletionResult]::new('presets', 'presets', [CompletionResultType]::ParameterValue, 'List the queues that are known, or explain one')
            [CompletionResult]::new('reclaim', 'reclaim', [CompletionResultType]::ParameterValue, 'Plan the return of stuck jobs, and with --apply carry it out')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of a document')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Explain jobs: every rule, what it read, what would be done')
            [CompletionResult]::new('stale', 'stale', [CompletionResultType]::ParameterValue, 'List the claims that are stuck, longest silent first')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Count jobs by queue and state, or show how long they run')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'One pass for automation: from cron, or with --restart before workers start')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Plan to take a run back, and with --apply give back every job that nobody has touched since')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'jobdoctor;help;check' {
            break
        }
        'jobdoctor;help;completions' {
            break
        }
        'jobdoctor;help;demo' {
            break
        }
        'jobdoctor;help;env' {
            break
        }
        'jobdoctor;help;health' {
            break
        }
        'jobdoctor;help;history' {
            break
        }
        'jobdoctor;help;init' {
            break
        }
        'jobdoctor;help;man' {
            break
        }
        'jobdoctor;help;owners' {
            break
        }
        'jobdoctor;help;presets' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Explain one: its tables, what is alive, and column by column what is done')
            break
        }
        'jobdoctor;help;presets;show' {
            break
        }
        'jobdoctor;help;reclaim' {
            break
        }
        'jobdoctor;help;schema' {
            break
        }
        'jobdoctor;help;show' {
            break
        }
        'jobdoctor;help;stale' {
            break
        }
        'jobdoctor;help;stats' {
            break
        }
        'jobdoctor;help;sweep' {
            break
        }
        'jobdoctor;help;undo' {
            break
        }
        'jobdoctor;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
