
set edit:completion:arg-completer[jobdoctor] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) JOBDOCTOR_COMPLETE="elvish" jobdoctor -- $@words) | to-lines
}

