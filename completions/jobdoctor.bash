_jobdoctor() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(JOBDOCTOR_COMPLETE=bash jobdoctor -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    case "${COMPREPLY-}" in
        *[=/:]) compopt -o nospace 2>/dev/null ;;
    esac
}
complete -o nosort -o bashdefault -F _jobdoctor jobdoctor 2>/dev/null || complete -o bashdefault -F _jobdoctor jobdoctor
