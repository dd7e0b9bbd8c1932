# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_jobdoctor_global_optspecs
    string join \n h/help V/version
end

function __fish_jobdoctor_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_jobdoctor_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_jobdoctor_using_subcommand
    set -l cmd (__fish_jobdoctor_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "check" -d 'Can jobdoctor do its work here: preset, rights, indexes, encodings'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "demo" -d 'Make a demonstration database with stuck jobs and walk through it'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "env" -d 'Show every setting in force and where it came from'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "generate" -d 'Print the units that run a sweep: for systemd, cron or Kubernetes'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "health" -d 'Tell a monitoring system how the queue is, as its plugins do'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "help" -d 'Print a topic, or the help of a command'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "history" -d 'List what was done, or tell of one run'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "init" -d 'Create the reference schema, or the ledger'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "man" -d 'Print a manual page'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "owners" -d 'List who holds what, and who is dead'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "presets" -d 'List the queues that are known, or explain one'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "reclaim" -d 'Plan the return of stuck jobs, and with --apply carry it out'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "schema" -d 'Print the JSON Schema of a document'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "show" -d 'Explain jobs: every rule, what it read, what would be done'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "stale" -d 'List the claims that are stuck, longest silent first'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "stats" -d 'Count jobs by queue and state, or show how long they run'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "sweep" -d 'One pass for automation: from cron, or with --restart before workers start'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "undo" -d 'Plan to take a run back, and with --apply give back every job that nobody has touched since'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand completions" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand completions" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "systemd" -d 'A service and its timer, or with --restart a drop-in for the workers\' own unit'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "cron" -d 'A file for /etc/cron.d'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "kubernetes" -d 'A CronJob, or with --restart an init container for the workers\' pods'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l worker -d 'With --restart: the unit of the workers' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l only -d 'Print one of the two files alone' -r -f -a "service\t'What is run'
timer\t'When'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l user -d 'Who it runs as [default: who runs this]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l program -d 'Where the program is [default: where this one is]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l every -d 'How often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l name -d 'What it is called [default: jobdoctor-sweep, and the target\'s name behind it]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l restart -d 'Sweep what this host\'s workers left behind, before they start: a drop-in for their unit'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l user -d 'Who it runs as [default: who runs this]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l program -d 'Where the program is [default: where this one is]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l every -d 'How often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l name -d 'What it is called [default: jobdoctor-sweep, and the target\'s name behind it]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l image -d 'The image that has jobdoctor in it' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l program -d 'Where the program is in the image' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l every -d 'How often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l name -d 'What it is called [default: jobdoctor-sweep, and the target\'s name behind it]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l restart -d 'Sweep what a pod of this name left behind, before its worker starts: an init container for a StatefulSet'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s w -l warning -d 'Warn outside of these: a range of how many claims are stuck, or any of stuck=RANGE, silence=RANGE (the longest silence of a stuck claim, in seconds or as 10m), share=RANGE (how many of a hundred claims are stuck) and unknown=RANGE (how many nobody can judge), with commas in between or repeated. A RANGE is [@][START:]END: 10 is 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ turns it around [default: 0,unknown=0, so that any claim that is stuck or that nobody can judge is a warning; unknown=0 holds beside other ranges, too]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s c -l critical -d 'Critical outside of these' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l unreachable -d 'What it is if the database cannot be reached, or does not answer in time' -r -f -a "critical\t'Nobody works while it is away'
unknown\t'Another check watches the database'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l owner -d 'Held by owners that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l host -d 'Held on this host, named whole (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l state -d 'In this state, in the queue\'s own words (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s o -l output -d 'The format' -r -f -a "plugin\t'A line with performance data, then more lines'
json\t'One JSON document'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l all-targets -d 'Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them, repeat --target. A {target} in the path of a file that is written is the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand help" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand help" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l limit -d 'The N newest runs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l print -d 'Print the statements and run none'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l ledger -d 'Create only the table jobdoctor_ledger, beside the tables of the queue that is there: from then on each action is recorded in it, in the same transaction'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand man" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand man" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l owner -d 'Held by owners that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l host -d 'Held on this host, named whole (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l state -d 'In this state, in the queue\'s own words (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l limit -d 'The N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l all-targets -d 'Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them, repeat --target. A {target} in the path of a file that is written is the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l config -d 'The config file, for its mappings' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -a "show" -d 'Explain one: its tables, what is alive, and column by column what is done'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l config -d 'The config file, for its mappings' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l toml -d 'Print it as it is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l to -d 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l rule -d 'Act on this rule about trouble too, although the worker may still be running: deadline_passed, max_runtime or no_progress (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l max-jobs -d 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l expect -d 'Apply, or print a script, only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l delay -d 'Jobs that go back to the queue may run this much later than now, at most 7d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l jitter -d 'Spread them over a window of this length, after --delay if there is one, at most 7d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l max-stalls -d 'Fail a job that was lost N times before, instead of giving it back again: 0 fails it at once, 1 at the second loss' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l verify -d 'Afterwards watch the requeued jobs for so long, or until all have ended, and say how they stand; 3 if some are stuck again. Not counted against --timeout' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l reason -d 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l owner -d 'Held by owners that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l host -d 'Held on this host, named whole (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l state -d 'In this state, in the queue\'s own words (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l limit -d 'The N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l id -d 'This job; a healthy one is skipped, never forced (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l from-file -d 'The jobs of a list: one id a line, or the lines of `-o jsonl`; - is standard input. An empty list means no job. What is healthy is skipped, as with --id' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l save-plan -d 'Keep the plan in a file, private to its user, to be looked at and carried out later with --plan' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l plan -d 'The jobs of a saved plan, judged as they were then: only those, and of them only the ones that have not changed since' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l alive-from -d 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l snapshot-file -d 'Compare with the snapshot saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l confirm-after -d 'Take a second snapshot this much later (3s to 1h), and act only on jobs unchanged since' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l apply -d 'Do it: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l emit-sql -d 'Print the guarded statements instead, for a change ticket: a script for psql or sqlite3 that does what --apply would do, one transaction a batch'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand schema" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand schema" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s o -l output -d 'The format' -r -f -a "table\t'For people'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l owner -d 'Held by owners that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l host -d 'Held on this host, named whole (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l state -d 'In this state, in the queue\'s own words (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l limit -d 'The N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l id -d 'This job; a healthy one is skipped, never forced (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l watch -d 'Look again and again, with this pause in between: on a terminal in place, what is new marked + and what is gone marked -; with -o jsonl one line for each. Each look has its own time limit [default: 10s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l alive-from -d 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l snapshot-file -d 'Compare with the snapshot saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l summary -d 'Only what is likely to have happened, and the counts: no list of jobs'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l exit-code -d 'End with 1 if stuck or unknown claims are found'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l all-targets -d 'Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them, repeat --target. A {target} in the path of a file that is written is the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l since -d 'With --runtimes: jobs that ended within this time [default: 7d]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l textfile -d 'Also keep the run\'s metrics in this file, for the textfile collector of node_exporter: replaced whole, after a run that failed too. Counts every claim in flight, before anything is done. One file for each command and target' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One name a line'
prometheus\t'Metrics in Prometheus\' text format, of what is in flight'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l runtimes -d 'How long jobs ran that have ended well, by kind, and how many of them the threshold would have hit'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l all-targets -d 'Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them, repeat --target. A {target} in the path of a file that is written is the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l started-before -d 'With --restart: only claims made before this instant, as in 2026-11-20T10:00:00Z, are dead; or before the boot of this host, which needs --host, --owner or --alive-from to say whose claims are this host\'s. In a Linux container the boot is that of the host under it' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l to -d 'Where to, instead of what the rules say: a job without attempts left goes to fail, one whose cancelling was requested to cancel, all others to requeue' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l rule -d 'Act on this rule about trouble too, although the worker may still be running: deadline_passed, max_runtime or no_progress (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l max-jobs -d 'Refuse to apply a plan with more steps than this; said here, not in the config file, it also lifts the brake' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l expect -d 'Apply, or print a script, only if the plan is still this one: the digest that the dry run printed, or its first 8 digits or more' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l delay -d 'Jobs that go back to the queue may run this much later than now, at most 7d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l jitter -d 'Spread them over a window of this length, after --delay if there is one, at most 7d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l max-stalls -d 'Fail a job that was lost N times before, instead of giving it back again: 0 fails it at once, 1 at the second loss' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l verify -d 'Afterwards watch the requeued jobs for so long, or until all have ended, and say how they stand; 3 if some are stuck again. Not counted against --timeout' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l reason -d 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l older -d 'Silent for longer than this, counted from the best sign of life there is [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l queue -d 'Of queues that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l kind -d 'Of kinds that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l owner -d 'Held by owners that match (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l host -d 'Held on this host, named whole (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l state -d 'In this state, in the queue\'s own words (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l limit -d 'The N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l alive-from -d 'A list of the living owners, one a line: hosts, host:pid, exact ids, or what `kubectl get pods -o name` says; - is standard input. Every other owner is dead as of then. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l snapshot-file -d 'Compare with the snapshot saved in this file, and save this one there: what stood still is dead, and what changed is alive, whatever its clock says. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l confirm-after -d 'Take a second snapshot this much later (3s to 1h), and act only on jobs unchanged since' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l min-interval -d 'End with 75 if a sweep of this queue has moved something within this time (at most 7d), on any host if the queue has a ledger, else on this one' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l lock-wait -d 'Wait this long (at most 1h) while another sweep is at work, instead of ending with 75 at once' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l splay -d 'Sleep for a random part of this time (at most 1h) before anything is opened, so that hosts whose crons start together do not all come at once; does not count as --timeout. With --restart, after a first snapshot that says which claims are older than the sweep' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l warn-above -d 'Warn, and name the owners, where more jobs than this are moved' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l report-file -d 'Write what --json prints into this file at the end of every run, whole or not at all; of a run that fails, the error' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l log-format -d 'How stderr is written' -r -f -a "text\t'For people'
json\t'One JSON object a line, with the time, the level and the run'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l textfile -d 'Also keep the run\'s metrics in this file, for the textfile collector of node_exporter: replaced whole, after a run that failed too. Counts every claim in flight, before anything is done. One file for each command and target' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l restart -d 'Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners, --alive-from or --started-before; never touches a claim made after the sweep began'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l all-owners -d 'With --restart: every owner is dead, and so are claims without one'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l apply -d 'Do it: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l emit-sql -d 'Print the guarded statements instead, for a change ticket: a script for psql or sqlite3 that does what --apply would do, one transaction a batch'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l all-targets -d 'Every target of the config file, at most 4 at a time, each with its own settings and --timeout; to ask some of them, repeat --target. A {target} in the path of a file that is written is the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l max-jobs -d 'Refuse to give back more jobs than this' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l reason -d 'Why, for who reads the history later: kept in the journal and the ledger, and written with each job where the queue keeps its last error' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l db -d 'The database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l target -d 'A target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l preset -d 'The preset or mapping, instead of finding out' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l schema -d 'The schema of the queue\'s tables (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l table -d 'Another name for the table of jobs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l option -d 'What the preset cannot read from the database; `presets show NAME` lists its options' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l password-file -d 'A file whose first line is the password; counts before any other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l config -d 'The config file [env: JOBDOCTOR_CONFIG; then $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l timeout -d 'Give up after this long [default: 30s for looking, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s o -l output -d 'The format' -r -f -a "table\t'Columns that fit the terminal'
wide\t'All columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l apply -d 'Do it: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l network-files -d 'Write to a SQLite file although it lies on a network file system, where locks cannot be relied on'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s q -l quiet -d 'No hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s v -l verbose -d 'Say what was found out about the database, and warn about how it is set up'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s V -l version -d 'Print version'
