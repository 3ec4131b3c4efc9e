# Runs one turn and records how it ended: sh shim.sh RECORD CLAIM LEADER SIGN FENCED COMMAND...
# RECORD is the path of the turn's files without their endings, CLAIM the word this process must find at the
# end of RECORD.pid to be the one that runs the turn. LEADER is the file that says SIGN while the daemon leads which
# started this process; empty where none did. If FENCED is not empty, COMMAND makes a fence whose own shell writes
# the record's first lines through descriptor 4, and FENCED is said if it came to no such line.
# The shell reads the whole function before it runs a word of it, so an upgrade cannot change a running turn.
# The long names keep clear of the command's environment: assigning to a variable that is in it changes it.
run_turn() {
    paddock_shim_record=$1 paddock_shim_claim=$2 paddock_shim_leader=$3 paddock_shim_sign=$4 paddock_shim_fenced=$5
    shift 5

    # Standard input ends when the starter has decided who runs the turn, or has died. A signal that is caught
    # would end the reading before that.
    trap '' HUP INT QUIT TERM USR1 USR2 ALRM
    read -r paddock_shim_owner

    # Signals to the group are meant for the command. A caught signal, unlike an ignored one, is back at its
    # default in the command.
    trap : HUP INT QUIT TERM USR1 USR2 ALRM
    [ -f "$paddock_shim_record.pid" ] || exit 0
    read -r paddock_shim_owner <"$paddock_shim_record.pid"
    case $paddock_shim_owner in
        *" $paddock_shim_claim") ;;
        *) exit 0 ;;
    esac

    # Its starter may have slept until another daemon led. That one takes the turn over by making the same file.
    if [ "$paddock_shim_leader" ]; then
        paddock_shim_owner=
        [ ! -f "$paddock_shim_leader" ] || read -r paddock_shim_owner <"$paddock_shim_leader"
        [ "$paddock_shim_owner" = "$paddock_shim_sign" ] || exit 0
        set -C
        { echo begun; } 2>/dev/null >"$paddock_shim_record.$paddock_shim_claim.go" || exit 0
        set +C
    fi

    # From here on the shell's own words go into the record: it says "Terminated" when a signal ended the
    # command, and nothing when the command itself returned 143.
    exec 3>&2 2>"$paddock_shim_record.ending" </dev/null
    (
        [ -z "$paddock_shim_fenced" ] || exec 4>&2
        exec 2>&3 3>&-
        exec "$@"
    )
    set -- "$?"
    [ -z "$paddock_shim_fenced" ] || echo "$paddock_shim_fenced" >&2
    echo "$1" >&2 && mv -f "$paddock_shim_record.ending" "$paddock_shim_record.exit"
    exit 0
}
run_turn "$@"
