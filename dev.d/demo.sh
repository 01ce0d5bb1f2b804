# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev demo: the whole product on this machine, around a Java service that was written to be profiled.

demo_usage() {
    cat <<'USAGE'
usage: ./dev demo [--port N] [--load LEVEL] [--for SECONDS]

Installs what is needed, builds, and starts a demo Java service, hotstack-backend with the embedded
store, hotstack-attachd and hotstack-collector. Prints one URL; its code opens one session, once.
Ctrl-C stops collector, attachd and backend, shows that the service was left as it was, and ends it.

  --port N       port of the page (default 7700; 0 takes a free one)
  --load LEVEL   the service's load: low, normal (default), high, or orders per second
  --for SECONDS  stop by itself that long after the first profile is on the page

State and logs lie in $HOTSTACK_CACHE/demo until the next demo. To store in a ClickHouse server
instead of the embedded store: HOTSTACK_STORE_KIND=clickhouse HOTSTACK_STORE_URL=http://HOST:8123.
USAGE
}

DEMO_PATIENCE=120 # seconds before a step counts as failed

# ---- small tools ----

# has_come TEST...: waits until the command succeeds; a process that ended meanwhile ends the wait.
has_come() {
    local pid=$1 end=$((SECONDS + DEMO_PATIENCE))
    shift
    until "$@"; do
        if ((SECONDS >= end)) || ! kill -0 "$pid" 2>/dev/null; then return 1; fi
        pause 0.2
    done
}

# A sleep that a signal's trap interrupts.
pause() {
    sleep "$1" &
    wait $! || true
}

is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# http_get PORT PATH [TOKEN]: prints the answer, head and body.
http_get() {
    local port=$1 path=$2 token=${3:-}
    (
        exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
        printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n' "$path" "$port" >&3
        [[ -z $token ]] || printf 'Authorization: Bearer %s\r\n' "$token" >&3
        printf '\r\n' >&3
        timeout 10 cat <&3
    ) 2>/dev/null
}

answers_ok() { [[ $(http_get "$@") == "HTTP/1.1 200"* ]]; }

new_secret() { od -An -N 24 -tx1 /dev/urandom | tr -d ' \n'; }

# ---- processes: name, pid and log of each, stopped in the order wanted ----

declare -gA demo_pid=()

# start NAME COMMAND...: in a session of its own, so that Ctrl-C reaches this script only.
start() {
    local name=$1
    shift
    setsid "$@" >"$demo/$name.log" 2>&1 </dev/null 9>&- &
    demo_pid[$name]=$!
}

stop() {
    local name=$1 pid=${demo_pid[$1]:-} end=$((SECONDS + 30))
    [[ -n $pid ]] || return 0
    unset "demo_pid[$name]"
    kill -TERM "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do
        if ((SECONDS >= end)); then
            say_warn "$name did not end within 30 s and was killed; its log: $demo/$name.log"
            kill -KILL "$pid" 2>/dev/null || true
            break
        fi
        sleep 0.1
    done
    wait "$pid" 2>/dev/null || true
}

stop_all() {
    local name
    for name in collector attachd backend service; do stop "$name"; done
    [[ -z ${demo_socket_dir:-} ]] || rm -rf "$demo_socket_dir"
}

# failed NAME SENTENCE: the end of the program's log, then the sentence.
failed() {
    say_note "last lines of $demo/$1.log:"
    tail -n 8 "$demo/$1.log" | sed 's/^/      /' >&2
    die "$2"
}

# ---- steps ----

prepare_state() {
    demo=$HOTSTACK_CACHE/demo
    mkdir -p "$demo"
    exec 9>"$demo/.lock"
    flock -n 9 || die "another ./dev demo runs here (its files are in $demo); stop it with Ctrl-C first"
    rm -rf "$demo"/{store,queue,attachd} "$demo"/*.{log,yaml,secret,port}
    mkdir -m 700 "$demo/queue"
    # A socket's path must be short; if the cache's is long, the socket is elsewhere.
    demo_socket=$demo/attachd.sock demo_socket_dir=''
    if ((${#demo_socket} > 100)); then
        demo_socket_dir=$(mktemp -d /var/tmp/hotstack-demo.XXXXXX)
        demo_socket=$demo_socket_dir/attachd.sock
    fi
    local secret
    for secret in collector user code; do
        (umask 077 && new_secret >"$demo/$secret.secret")
    done
}

check_store() {
    [[ -z ${HOTSTACK_STORE_URL:-} ]] || return 0
    [[ -f $HOTSTACK_CACHE/chdb/libchdb.so ]] ||
        die "there is no embedded store on this machine (see above). With a ClickHouse server:" \
            "HOTSTACK_STORE_KIND=clickhouse HOTSTACK_STORE_URL=http://HOST:8123 ./dev demo"
}

check_port() {
    ((demo_port == 0)) || ! is_taken "$demo_port" ||
        die "port $demo_port of 127.0.0.1 is taken by another program; choose one: ./dev demo --port 7710"
}

profiler_platform() {
    case $(uname -m) in
    x86_64) echo linux-x64 ;;
    aarch64) echo linux-arm64 ;;
    *) die "async-profiler is not published for this CPU ($(uname -m))" ;;
    esac
}

write_configs() {
    local profiler
    profiler=$HOTSTACK_CACHE/async-profiler/$(profiler_platform)/libasyncProfiler.so
    cat >"$demo/backend.yaml" <<YAML
ingest: {flush_interval: "100ms"}
listen: "127.0.0.1:$demo_port"
port_file: "$demo/backend.port"
data_dir: "$demo/store"
store:
  library: "$HOTSTACK_CACHE/chdb/libchdb.so"
ui:
  dir: "$build/ui/ui"
auth:
  collector_token_file: "$demo/collector.secret"
  user_token_file: "$demo/user.secret"
one_time_code_file: "$demo/code.secret"
YAML
    cat >"$demo/attachd.yaml" <<YAML
socket: "$demo_socket"
state_dir: "$demo/attachd"
profiler_library: "$profiler"
thread_agent: "$build/libattach/agent/libhotstackthreads.so"
worker: "$build/daemons/attachd/worker/hotstack-attach-worker"
YAML
    cat >"$demo/collector.yaml" <<YAML
cluster: "demo"
attachd:
  socket: "$demo_socket"
backend:
  url: "http://127.0.0.1:$demo_port"
  token_file: "$demo/collector.secret"
rules:
  - main_class: "demo-service[.]jar"
    namespace: "demo"
    workload: "demo-service"
    events: "cpu=10ms,alloc=512k,lock=1ms"
    startup_delay: "1s"
window:
  length: "10s"
  jitter: "0s"
discovery:
  interval: "1s"
queue:
  dir: "$demo/queue"
listen:
  port: 0
YAML
}

start_service() {
    say_step "starting the demo service (load: $demo_load)"
    start service java -XX:+UseSerialGC -Xmx128m -jar "$build/examples/demo-service/demo-service.jar" \
        --port-file "$demo/service.port" --load "$demo_load"
    has_come "${demo_pid[service]}" test -s "$demo/service.port" ||
        failed service "the demo service did not start"
    service_port=$(<"$demo/service.port")
    service_started=$SECONDS
    say_note "it answers: http://127.0.0.1:$service_port/health"
}

start_backend() {
    say_step "starting hotstack-backend with ${HOTSTACK_STORE_URL:-the embedded store}"
    start backend "$build/daemons/backend/hotstack-backend" --config "$demo/backend.yaml"
    has_come "${demo_pid[backend]}" test -s "$demo/backend.port" ||
        failed backend "hotstack-backend did not start"
    demo_port=$(<"$demo/backend.port")
    has_come "${demo_pid[backend]}" answers_ok "$demo_port" /readyz ||
        failed backend "hotstack-backend started, but its store is not ready"
}

start_collector() {
    say_step "starting hotstack-attachd and hotstack-collector"
    start attachd "$build/daemons/attachd/hotstack-attachd" --config "$demo/attachd.yaml"
    has_come "${demo_pid[attachd]}" test -S "$demo_socket" || failed attachd "hotstack-attachd did not start"
    start collector "$build/daemons/collector/hotstack-collector" --config "$demo/collector.yaml"
}

print_url() {
    printf '\n    %shttp://127.0.0.1:%s/#code=%s%s\n\n' \
        "$SAY_BOLD" "$demo_port" "$(<"$demo/code.secret")" "$SAY_OFF"
    say_note "Open it in a browser: its code logs in once, within ten minutes. Later, or in another"
    say_note "browser: the token in $demo/user.secret"
}

# Are there samples of the service? The flame graph is asked for, because that is what the page shows.
profile_is_there() {
    local now answer
    now=$(date +%s%3N)
    answer=$(http_get "$demo_port" "/v1/flamegraph?cluster=demo&namespace=demo&workload=demo-service&type=$1&from=$((now - 600000))&to=$((now + 60000))" \
        "$(<"$demo/user.secret")")
    [[ $answer == "HTTP/1.1 200"* && $answer == *"$2"* ]]
}

wait_for_profiles() {
    local row
    for row in cpu:PriceEngine alloc_bytes:ReportBuilder lock_delay:InventoryLedger; do
        has_come "${demo_pid[collector]}" profile_is_there "${row%%:*}" "${row##*:}" ||
            failed collector "no ${row%%:*} profile of the service arrived within $DEMO_PATIENCE s"
    done
    say_good "CPU, allocation and lock profiles are on the page, $((SECONDS - service_started)) s after the service's start"
    local pid=${demo_pid[service]}
    say_note "while it runs, the service holds $(session_traces "$pid" | wc -l) traces of a profiling session" \
        "and $(files_of_ours "$pid" | wc -l) directory of ours in its temporary directories"
}

# Runs until Ctrl-C, or for the time that was asked; a program that ends by itself ends the demo.
watch_over() {
    local end=$((SECONDS + ${demo_seconds:-0})) name
    [[ -n $demo_seconds ]] || say_step "running; Ctrl-C ends it"
    while [[ -z $demo_seconds ]] || ((SECONDS < end)); do
        for name in service backend attachd collector; do
            kill -0 "${demo_pid[$name]}" 2>/dev/null || failed "$name" "$name ended by itself"
        done
        pause 1
    done
}

# Lists the traces of a running session in its process: an open recording, sampling events or timers. (The
# profiler's library stays mapped, and its log open, until the process ends: no JVM can unload it.)
session_traces() {
    local pid=$1 fd target
    for fd in "/proc/$pid/fd"/*; do
        target=$(readlink "$fd") || continue
        case $target in */recording.jfr* | *perf_event*) echo "open: $target" ;; esac
    done
    # Readable with the checkpoint feature of the kernel only; the JVM itself has no such timers.
    sed -n 's/^ID: /timer: /p' "/proc/$pid/timers" 2>/dev/null
}

# Named by the installation's id: other installations on this host have files there, too.
files_of_ours() {
    local root=/proc/$1/root
    find "$root/tmp" "$root/var/tmp" "$root/dev/shm" "$root/run" -maxdepth 1 -name "hotstack-$(<"$demo/attachd/installation-id")-*" 2>/dev/null
}

end_demo() {
    local pid=${demo_pid[service]} left
    trap '' INT TERM
    say_step "stopping collector, attachd and backend"
    stop collector
    stop attachd
    stop backend
    say_step "looking at the service that was profiled"
    answers_ok "$service_port" /health || failed service "the demo service does not answer any more"
    say_good "it still answers: $(http_get "$service_port" /stats | sed -n 's/.*"orders":\([0-9]*\).*/\1 orders served/p')"
    left=$(session_traces "$pid")
    [[ -z $left ]] || die "a profiling session is still in it: $left"
    say_good "no profiling session is in it: no open recording, no sampling event, no timer"
    left=$(files_of_ours "$pid")
    [[ -z $left ]] || die "files of ours are left: $left"
    say_good "no file of ours is in its /tmp, /var/tmp, /dev/shm or /run"
    stop service
    say_step "the service was ended; that was the demo. Logs: $demo"
}

command_demo() {
    demo_port=7700 demo_load=normal demo_seconds=''
    while (($#)); do
        case $1 in
        -h | --help) demo_usage; return ;;
        --port) demo_port=${2:?--port needs a number}; shift 2 ;;
        --load) demo_load=${2:?--load needs a level}; shift 2 ;;
        --for) demo_seconds=${2:?--for needs a number of seconds}; shift 2 ;;
        *) die_usage "unknown argument '$1'; see ./dev demo --help" ;;
        esac
    done
    [[ $demo_port =~ ^[0-9]+$ && $demo_port -le 65535 ]] || die_usage "--port takes 0 to 65535, not '$demo_port'"
    [[ $demo_seconds =~ ^[0-9]*$ ]] || die_usage "--for takes a number of seconds, not '$demo_seconds'"
    check_port
    dependencies demo
    check_store
    build=$HOTSTACK_ROOT/build
    build_tree build || exit 1
    prepare_state
    trap stop_all EXIT
    trap 'exit 130' INT TERM
    start_service
    write_configs
    start_backend
    # The collector gets the port that was chosen.
    write_configs
    start_collector
    trap 'end_demo; exit 0' INT TERM
    print_url
    wait_for_profiles
    watch_over
    end_demo
}
