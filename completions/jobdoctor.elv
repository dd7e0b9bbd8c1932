
use builtin;
use str;

set edit:completion:arg-completer[jobdoctor] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'jobdoctor'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'jobdoctor'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand check 'Can jobdoctor do its work here: preset, rights, indexes, encodings'
            cand completions 'Print a shell''s completion script'
            cand demo 'Make a demonstration database with stuck jobs and walk through it'
            cand env 'Show every setting in force and where it came from'
            cand init 'Create the reference schema'
            cand man 'Print a manual page'
            cand owners 'List who holds what, and who is dead'
            cand presets 'List the queues that are known, or explain one'
            cand reclaim 'Plan the return of stuck jobs, and with --apply carry it out'
            cand schema 'Print the JSON Schema of a document'
            cand show 'Explain jobs: every rule, what it read, what would be done'
            cand stale 'List the claims that are stuck, longest silent first'
            cand sweep 'One pass for automation: from cron, or with --restart before workers start'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'jobdoctor;check'= {
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;completions'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;demo'= {
            cand --color 'When to use colour'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;env'= {
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;init'= {
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --print 'Print the statements and run none'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;man'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;owners'= {
            cand --older 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]'
            cand --queue 'Of queues that match (can be repeated)'
            cand --kind 'Of kinds that match (can be repeated)'
            cand --owner 'Held by owners that match (can be repeated)'
            cand --host 'Held on this host, named whole (can be repeated)'
            cand --state 'In this state, in the queue''s own words (can be repeated)'
            cand --limit 'The N longest silent'
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;presets'= {
            cand --config 'The config file, for its mappings'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand show 'Explain one: its tables, what is alive, and column by column what is done'
        }
        &'jobdoctor;presets;show'= {
            cand --config 'The config file, for its mappings'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --toml 'Print it as it is written'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;reclaim'= {
            cand --to 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue'
            cand --rule 'Act on this rule about trouble too, although the worker may still be running: deadline_passed or max_runtime (can be repeated)'
            cand --max-jobs 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake'
            cand --expect 'Apply only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more'
            cand --older 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]'
            cand --queue 'Of queues that match (can be repeated)'
            cand --kind 'Of kinds that match (can be repeated)'
            cand --owner 'Held by owners that match (can be repeated)'
            cand --host 'Held on this host, named whole (can be repeated)'
            cand --state 'In this state, in the queue''s own words (can be repeated)'
            cand --limit 'The N longest silent'
            cand --id 'This job; a healthy one is held, never forced (can be repeated)'
            cand --from-file 'The jobs of a list: one id a line, or the lines of `-o jsonl`; - is standard input. An empty list means no job. What is healthy is held, as with --id'
            cand --save-plan 'Keep the plan in a file, private to its user, to be looked at and carried out later with --plan'
            cand --plan 'The jobs of a saved plan, judged as they were then: only those, and of them only the ones that have not changed since'
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --apply 'Do it: without this, nothing is written'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;schema'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;show'= {
            cand --older 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]'
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;stale'= {
            cand --older 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]'
            cand --queue 'Of queues that match (can be repeated)'
            cand --kind 'Of kinds that match (can be repeated)'
            cand --owner 'Held by owners that match (can be repeated)'
            cand --host 'Held on this host, named whole (can be repeated)'
            cand --state 'In this state, in the queue''s own words (can be repeated)'
            cand --limit 'The N longest silent'
            cand --id 'This job; a healthy one is held, never forced (can be repeated)'
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --exit-code 'End with 1 if stuck or unknown claims are found'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;sweep'= {
            cand --to 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue'
            cand --rule 'Act on this rule about trouble too, although the worker may still be running: deadline_passed or max_runtime (can be repeated)'
            cand --max-jobs 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake'
            cand --expect 'Apply only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more'
            cand --older 'Silent for longer than this, counted from the best sign of life there is [default: the queue library''s own threshold]'
            cand --queue 'Of queues that match (can be repeated)'
            cand --kind 'Of kinds that match (can be repeated)'
            cand --owner 'Held by owners that match (can be repeated)'
            cand --host 'Held on this host, named whole (can be repeated)'
            cand --state 'In this state, in the queue''s own words (can be repeated)'
            cand --limit 'The N longest silent'
            cand --db 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file''s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]'
            cand --target 'A target of the config file [env: JOBDOCTOR_TARGET]'
            cand --preset 'The preset or mapping, instead of finding out'
            cand --schema 'The schema of the queue''s tables (Postgres)'
            cand --table 'Another name for the table of jobs'
            cand --option 'What the preset cannot read from the database; `presets show NAME` lists its options'
            cand --password-file 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]'
            cand --config 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]'
            cand --timeout 'Give up after this long [default: 30s for looking, 10m for applying]'
            cand -o 'The format'
            cand --output 'The format'
            cand --color 'When to use colour'
            cand --restart 'Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner or --all-owners; never touches a claim made after the sweep began'
            cand --all-owners 'With --restart: every owner is dead, and so are claims without one'
            cand --apply 'Do it: without this, nothing is written'
            cand --network-files 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
            cand --no-config 'Read no config file'
            cand --json 'Short for --output json'
            cand -q 'No hints, summaries or warnings; errors and the report stay'
            cand --quiet 'No hints, summaries or warnings; errors and the report stay'
            cand -v 'Say what was found out about the database, and warn about how it is set up'
            cand --verbose 'Say what was found out about the database, and warn about how it is set up'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'jobdoctor;help'= {
            cand check 'Can jobdoctor do its work here: preset, rights, indexes, encodings'
            cand completions 'Print a shell''s completion script'
            cand demo 'Make a demonstration database with stuck jobs and walk through it'
            cand env 'Show every setting in force and where it came from'
            cand init 'Create the reference schema'
            cand man 'Print a manual page'
            cand owners 'List who holds what, and who is dead'
            cand presets 'List the queues that are known, or explain one'
            cand reclaim 'Plan the return of stuck jobs, and with --apply carry it out'
            cand schema 'Print the JSON Schema of a document'
            cand show 'Explain jobs: every rule, what it read, what would be done'
            cand stale 'List the claims that are stuck, longest silent first'
            cand sweep 'One pass for automation: from cron, or with --restart before workers start'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'jobdoctor;help;check'= {
        }
        &'jobdoctor;help;completions'= {
        }
        &'jobdoctor;help;demo'= {
        }
        &'jobdoctor;help;env'= {
        }
        &'jobdoctor;help;init'= {
        }
        &'jobdoctor;help;man'= {
        }
        &'jobdoctor;help;owners'= {
        }
        &'jobdoctor;help;presets'= {
            cand show 'Explain one: its tables, what is alive, and column by column what is done'
        }
        &'jobdoctor;help;presets;show'= {
        }
        &'jobdoctor;help;reclaim'= {
        }
        &'jobdoctor;help;schema'= {
        }
        &'jobdoctor;help;show'= {
        }
        &'jobdoctor;help;stale'= {
        }
        &'jobdoctor;help;sweep'= {
        }
        &'jobdoctor;help;help'= {
        }
    ]
    $completions[$command]
}
