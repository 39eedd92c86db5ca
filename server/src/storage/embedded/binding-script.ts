/**
 * POSIX sh: becomes the program, after leaving a watcher behind that reads the pipe on descriptor 3. The other end is
 * held by the starting process alone. A line there means that the program has been waited for; the bare end of the pipe
 * means that the starting process is gone, even by SIGKILL, and the program is asked to stop: SIGINT is a fast shutdown
 * to PostgreSQL. A server that has not stopped after twenty seconds gets SIGQUIT, its immediate shutdown.
 *
 * The watcher is not a child of the program: PostgreSQL takes the death of a child that it does not know for a crash.
 * Because the shell turns into the program, `$$` is the program's process id, and its exit status needs no passing on.
 */
export const BINDING_SCRIPT = `
pid_file=$1
shift
(
  (
    trap '' HUP INT TERM
    read -r released <&3 && exit 0
    kill -INT $$
    seconds=20
    while [ $seconds -gt 0 ]; do
      sleep 1
      read -r owner <"$pid_file" || exit 0
      [ "$owner" = $$ ] || exit 0
      seconds=$((seconds - 1))
    done
    kill -QUIT $$
  ) </dev/null >/dev/null 2>&1 &
)
exec 3<&- "$@"
`;
