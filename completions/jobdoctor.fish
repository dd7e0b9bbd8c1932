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
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "adopt" -d 'Draft the mapping of a home-made table from its rows'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "check" -d 'Check whether jobdoctor can do its work here: preset, rights, indexes, encodings'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "completions" -d 'Print a shell\'s completion script'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "demo" -d 'Create a demonstration database with stuck jobs and walk through it'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "env" -d 'Show every setting in force and where it came from'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "generate" -d 'Print units that run a sweep: for systemd, cron or Kubernetes'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "health" -d 'Monitoring plugin (Nagios, Icinga): thresholds, performance data, exit codes 0 to 3'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "help" -d 'Print a topic, or the help of a command'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "history" -d 'List past runs, or show one'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "init" -d 'Create the reference schema or the ledger'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "man" -d 'Print a manual page'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "owners" -d 'List owners with their claims, dead ones first'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "presets" -d 'List the known queues, or explain one'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "reclaim" -d 'Requeue or fail stuck jobs; plans only, unless --apply'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "schema" -d 'Print the JSON Schema of a document'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "show" -d 'Explain jobs: each rule, the value it read, and what reclaim would do'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "stale" -d 'List stuck claims, longest silent first'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "stats" -d 'Count jobs by queue and state, or show run times'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "sweep" -d 'Reclaim for automation: from cron, or with --restart before workers start'
complete -c jobdoctor -n "__fish_jobdoctor_needs_command" -f -a "undo" -d 'Revert a run; plans only, unless --apply. Jobs changed since are skipped'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l name -d 'Call the mapping so [default: the table\'s name]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l answer -d 'Settle a key of the mapping, such as states.in_flight=working or claim.liveness=\'heartbeat pinged 2m\'; none leaves it out (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l watch -d 'Watch the rows for this long: a time that goes forward on rows in flight is the heartbeat' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l dry-run -d 'Let the database try each action on one stuck job, in a transaction that is rolled back: server' -r -f -a "server\t'The database carries it out and rolls back'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "toml\t'The mapping as it stands in a config file'
json\t'One JSON document'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l write -d 'Add the draft to the config file, if no question is open'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand adopt" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand check" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand completions" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand completions" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand demo" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand env" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "systemd" -d 'Print a service and its timer, or with --restart a drop-in for the workers\' own unit'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "cron" -d 'Print a file for /etc/cron.d'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and not __fish_seen_subcommand_from systemd cron kubernetes" -f -a "kubernetes" -d 'Print a CronJob, or with --restart an init container for the workers\' pods'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l worker -d 'Print the drop-in for this unit' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l only -d 'Print one of the two files [default: both]' -r -f -a "service\t'The command'
timer\t'The schedule'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l user -d 'Run as this user [default: the current user]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l program -d 'Run the program at this path [default: the path of this one]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l every -d 'Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l name -d 'Give the unit this name [default: jobdoctor-sweep, followed by the target\'s name]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l restart -d 'Print a drop-in for the workers\' unit that sweeps what they left behind on this host, before they start'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from systemd" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l user -d 'Run as this user [default: the current user]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l program -d 'Run the program at this path [default: the path of this one]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l every -d 'Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l name -d 'Give the unit this name [default: jobdoctor-sweep, followed by the target\'s name]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from cron" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l image -d 'Run this image, which has jobdoctor in it' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l program -d 'Run the program at this path in the image' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l every -d 'Run this often: a part of an hour or a day, such as 5m, 15m, 1h, 6h or 1d' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l name -d 'Give the unit this name [default: jobdoctor-sweep, followed by the target\'s name]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l restart -d 'Print an init container for a StatefulSet that sweeps what a pod of the same name left behind, before its worker starts'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand generate; and __fish_seen_subcommand_from kubernetes" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s w -l warning -d 'Warn if a value is outside its range: RANGE for the number of stuck claims, or any of stuck=RANGE, silence=RANGE (longest silence of a stuck claim, in seconds or as 10m), share=RANGE (percentage of claims that are stuck) and unknown=RANGE (claims that cannot be judged), with commas in between or repeated. RANGE is [@][START:]END: 10 is 0 to 10, 10: is 10 or more, ~:10 is 10 or less, @ inverts it [default: 0,unknown=0; unknown=0 also stays with other ranges]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s c -l critical -d 'Report critical if a value is outside its range, written as for --warning' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l unreachable -d 'The state if the database cannot be reached or does not answer in time' -r -f -a "critical\t'No worker can claim a job while it is away'
unknown\t'Another check watches the database'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l queue -d 'Select claims of matching queues (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l kind -d 'Select claims of matching kinds (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l owner -d 'Select claims of matching owners (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l host -d 'Select claims held on this host, given by its whole name (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l state -d 'Select claims in this state, one of the queue\'s own (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s o -l output -d 'Format of the report' -r -f -a "plugin\t'A status line with performance data, then more lines'
json\t'One JSON document'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l all-targets -d 'Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some of them, repeat --target. {target} in the path of a written file stands for the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand health" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand help" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand help" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l limit -d 'The N newest runs' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l all -d 'List the runs on every database, although --db or --target names one'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand history" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l print -d 'Print the statements and run none'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l ledger -d 'Create only the table jobdoctor_ledger in the schema of an existing queue; each action is then recorded there, in the same transaction'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand init" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand man" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand man" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l queue -d 'Select claims of matching queues (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l kind -d 'Select claims of matching kinds (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l owner -d 'Select claims of matching owners (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l host -d 'Select claims held on this host, given by its whole name (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l state -d 'Select claims in this state, one of the queue\'s own (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l limit -d 'Select at most the N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l dead -d 'List only owners whose claims all prove their death; -o name lists no others in any case'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l all-targets -d 'Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some of them, repeat --target. {target} in the path of a written file stands for the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand owners" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l config -d 'Config file with mappings' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and not __fish_seen_subcommand_from show" -a "show" -d 'Explain one: its tables, what shows life, and each action column by column'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l config -d 'Config file with mappings' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l toml -d 'Print its TOML'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand presets; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s n -l dry-run -d 'Write nothing, the default; wins over --apply. With =server the database carries out each step in transactions that are rolled back, and the report says what it refused' -r -f -a "plan\t'The plan is printed'
server\t'The database carries it out and rolls back'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l to -d 'Do this to every job: requeue, fail, cancel or time_out [default: fail without attempts left, cancel where that was requested, otherwise requeue]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l rule -d 'Act on this rule about trouble too, although the worker may be alive: deadline_passed, max_runtime or no_progress (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l max-jobs -d 'Refuse a plan with more steps than N; as an option, not as a config key, it also overrides the brake' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l expect -d 'Refuse a plan with another digest than this one, which the dry run printed; its first 8 digits are enough' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l delay -d 'Let requeued jobs run only after this time, at most 7d [default: at once]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l jitter -d 'Spread requeued jobs over this time, at most 7d, which begins after --delay' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l max-stalls -d 'Fail a job that was lost N times before, instead of requeuing it: 0 fails it at once, 1 at the second loss' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l verify -d 'Watch the requeued jobs for this time, at most 1d, or until all have ended, and report how they stand; end with 3 if some are stuck again. Does not count as --timeout' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l reason -d 'Reason recorded in the journal and the ledger, and as a job\'s last error where the queue keeps one' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l queue -d 'Select claims of matching queues (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l kind -d 'Select claims of matching kinds (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l owner -d 'Select claims of matching owners (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l host -d 'Select claims held on this host, given by its whole name (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l state -d 'Select claims in this state, one of the queue\'s own (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l limit -d 'Select at most the N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l id -d 'Select this job; a healthy one is skipped, never forced (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l from-file -d 'Select the jobs of a list: one id a line, or the lines of `-o jsonl`; - is standard input. An empty list selects no job; healthy jobs are skipped' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l save-plan -d 'Save the plan in this file, readable by its owner alone, to be applied later with --plan' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l plan -d 'Select the jobs of a saved plan, judged as they were then; those that have changed since are skipped' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l alive-from -d 'Read the live owners from a list, one a line: hosts, host:pid, exact ids, or the output of `kubectl get pods -o name`; - is standard input. Every other owner was dead when the list was made. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l snapshot-file -d 'Compare with the snapshot in this file, then save the new one there: claims unchanged since are dead, changed ones alive, whatever their timestamps say. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l confirm-after -d 'Take a second snapshot after this time (3s to 1h), and act only on jobs unchanged since the first' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l apply -d 'Carry out the plan: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l emit-sql -d 'Print a script for psql or sqlite3 that does what --apply would do, one transaction a batch'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l fast -d 'Write without pauses, for when all workers are stopped. Otherwise workers on SQLite, where one writer keeps all others out, get the lock for 20 to 40 ms after every 5 ms, and those on Postgres a pause after a batch that locked the rows of owners for over 50 ms'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand reclaim" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand schema" -s h -l help -d 'Print help'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand schema" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l payload -d 'Show the payload too, at most so many bytes of it [default without =: 4096]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
json\t'One JSON document'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand show" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l queue -d 'Select claims of matching queues (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l kind -d 'Select claims of matching kinds (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l owner -d 'Select claims of matching owners (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l host -d 'Select claims held on this host, given by its whole name (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l state -d 'Select claims in this state, one of the queue\'s own (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l limit -d 'Select at most the N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l id -d 'Select this job; a healthy one is skipped, never forced (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l by -d 'Count the jobs by this and list one row a group, most stuck jobs first; --limit is the number of groups' -r -f -a "host\t'The owner\'s host'
owner\t'The owner'
kind\t'The kind of work'
queue\t'The queue'
state\t'The state'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l watch -d 'Take a snapshot again and again, with this pause in between: redraws a terminal, with + for new jobs and - for those that are gone; with -o jsonl one line for each. Each snapshot has its own time limit [default: 10s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l alive-from -d 'Read the live owners from a list, one a line: hosts, host:pid, exact ids, or the output of `kubectl get pods -o name`; - is standard input. Every other owner was dead when the list was made. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l snapshot-file -d 'Compare with the snapshot in this file, then save the new one there: claims unchanged since are dead, changed ones alive, whatever their timestamps say. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l summary -d 'Print only the diagnoses and the counts, no list of jobs'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l exit-code -d 'End with 1 if stuck or unknown claims are found'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l all-targets -d 'Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some of them, repeat --target. {target} in the path of a written file stands for the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stale" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l since -d 'With --runtimes: only jobs that ended within this time [default: 7d]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l queue -d 'Only queues that match (repeatable)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l kind -d 'Only kinds that match (repeatable)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l textfile -d 'Also write the run\'s metrics to this file, for node_exporter\'s textfile collector; after a run that failed too, and atomically. Counts every claim in flight before anything is done. Use one file for each command and target' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
prometheus\t'Metrics of what is in flight, in Prometheus\' text format'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l runtimes -d 'Show how long the jobs ran that ended well, by kind, and how many ran longer than the threshold'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l all-targets -d 'Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some of them, repeat --target. {target} in the path of a written file stands for the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand stats" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l started-before -d 'With --restart: only claims made before this instant, as in 2026-11-20T10:00:00Z, are dead; or before the boot of this host, which needs --host, --owner or --alive-from to say whose claims are this host\'s. In a Linux container the boot is that of the host under it' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s n -l dry-run -d 'Write nothing, the default; wins over --apply. With =server the database carries out each step in transactions that are rolled back, and the report says what it refused' -r -f -a "plan\t'The plan is printed'
server\t'The database carries it out and rolls back'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l to -d 'Do this to every job: requeue, fail, cancel or time_out [default: fail without attempts left, cancel where that was requested, otherwise requeue]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l rule -d 'Act on this rule about trouble too, although the worker may be alive: deadline_passed, max_runtime or no_progress (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l max-jobs -d 'Refuse a plan with more steps than N; as an option, not as a config key, it also overrides the brake' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l expect -d 'Refuse a plan with another digest than this one, which the dry run printed; its first 8 digits are enough' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l delay -d 'Let requeued jobs run only after this time, at most 7d [default: at once]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l jitter -d 'Spread requeued jobs over this time, at most 7d, which begins after --delay' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l max-stalls -d 'Fail a job that was lost N times before, instead of requeuing it: 0 fails it at once, 1 at the second loss' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l verify -d 'Watch the requeued jobs for this time, at most 1d, or until all have ended, and report how they stand; end with 3 if some are stuck again. Does not count as --timeout' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l reason -d 'Reason recorded in the journal and the ledger, and as a job\'s last error where the queue keeps one' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l older -d 'Treat a claim as stuck if its newest sign of life is older than this [default: the queue library\'s own threshold]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l queue -d 'Select claims of matching queues (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l kind -d 'Select claims of matching kinds (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l owner -d 'Select claims of matching owners (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l host -d 'Select claims held on this host, given by its whole name (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l state -d 'Select claims in this state, one of the queue\'s own (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l limit -d 'Select at most the N longest silent' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l alive-from -d 'Read the live owners from a list, one a line: hosts, host:pid, exact ids, or the output of `kubectl get pods -o name`; - is standard input. Every other owner was dead when the list was made. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l snapshot-file -d 'Compare with the snapshot in this file, then save the new one there: claims unchanged since are dead, changed ones alive, whatever their timestamps say. Reads every claim in flight' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l confirm-after -d 'Take a second snapshot after this time (3s to 1h), and act only on jobs unchanged since the first' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l min-interval -d 'End with 75 if a sweep has moved jobs of this queue within this time, at most 7d; on any host if the queue has a ledger, else on this one' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l lock-wait -d 'Wait this long, at most 1h, for another sweep to end [default: end with 75 at once]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l splay -d 'Sleep for a random part of this time, at most 1h, before anything is opened, so that hosts do not start together. Does not count as --timeout. With --restart, sleep after a first snapshot, which tells the claims older than the sweep' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l warn-above -d 'Warn, and name the owners, if more than N jobs are moved' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l report-file -d 'Write the JSON report to this file at the end of every run, atomically; of a run that fails, the error' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l log-format -d 'Write stderr in this format [default: text]' -r -f -a "text\t'Text for people'
json\t'One JSON object a line, with the time, the level and the run'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l textfile -d 'Also write the run\'s metrics to this file, for node_exporter\'s textfile collector; after a run that failed too, and atomically. Counts every claim in flight before anything is done. Use one file for each command and target' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l restart -d 'Judge by who the owner is, whatever the age: its jobs are dead. Needs --host, --owner, --all-owners, --alive-from or --started-before; never touches a claim made after the sweep began'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l all-owners -d 'With --restart: every owner is dead, and so are claims without one'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l apply -d 'Carry out the plan: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l emit-sql -d 'Print a script for psql or sqlite3 that does what --apply would do, one transaction a batch'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l fast -d 'Write without pauses, for when all workers are stopped. Otherwise workers on SQLite, where one writer keeps all others out, get the lock for 20 to 40 ms after every 5 ms, and those on Postgres a pause after a batch that locked the rows of owners for over 50 ms'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l all-targets -d 'Run for every target of the config file, at most 4 at a time, each with its own settings and --timeout; for some of them, repeat --target. {target} in the path of a written file stands for the target\'s name'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand sweep" -s V -l version -d 'Print version'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l max-jobs -d 'Refuse to revert more jobs than this' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l reason -d 'Reason recorded in the journal and the ledger, and as a job\'s last error where the queue keeps one' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l db -d 'Use this database: a SQLite path, a postgres:// URL or a libpq string such as "host=db dbname=app" or "service=app" [env: JOBDOCTOR_DB, then the config file\'s target, then DATABASE_URL, then PGHOST, PGDATABASE, PGSERVICE]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l target -d 'Use this target of the config file [env: JOBDOCTOR_TARGET]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l preset -d 'Use this preset or mapping [default: detected from the tables]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l schema -d 'Find the queue\'s tables in this schema (Postgres)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l table -d 'Use this table of jobs [default: the preset\'s]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l option -d 'Set an option of the preset; `presets show NAME` lists them (can be repeated)' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l password-file -d 'Read the password from the first line of this file; it overrides every other password [env: JOBDOCTOR_PASSWORD_FILE]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l config -d 'Read this config file [env: JOBDOCTOR_CONFIG] [default: $XDG_CONFIG_HOME/jobdoctor/config.toml, then /etc/jobdoctor/config.toml]' -r -F
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l timeout -d 'Give up after this long [default: 30s for reading, 10m for applying]' -r
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s o -l output -d 'Write the report in this format [default: table]' -r -f -a "table\t'Text that fits the terminal'
wide\t'Text with all columns'
json\t'One JSON document'
jsonl\t'One JSON object a line'
csv\t'Comma-separated values with a header'
name\t'One id or name a line'
none\t'Nothing: the exit code says it all'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l color -d 'Use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l apply -d 'Do it: without this, nothing is written'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s n -l dry-run -d 'Write nothing, the default; wins over --apply'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l fast -d 'Write without pauses, for when all workers are stopped. Otherwise workers on SQLite, where one writer keeps all others out, get the lock for 20 to 40 ms after every 5 ms, and those on Postgres a pause after a batch that locked the rows of owners for over 50 ms'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l network-files -d 'Write to a SQLite file on a network file system, although locks are unreliable there'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l no-config -d 'Read no config file'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -l json -d 'Short for --output json'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s q -l quiet -d 'Print no hints, summaries or warnings; errors and the report stay'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s v -l verbose -d 'Print what was detected about the database, and warnings about its setup'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jobdoctor -n "__fish_jobdoctor_using_subcommand undo" -s V -l version -d 'Print version'
