package metrics

// family is a metric with all its series.
type family struct {
	name, kind, help string
}

// The names of the metrics of a Recorder, and of those that others add to a page.
const (
	turns          = "podd_turns_total"
	requests       = "podd_model_requests_total"
	requestSeconds = "podd_model_request_seconds_total"
	tokens         = "podd_tokens_total"
	cost           = "podd_cost_usd_total"
	toolCalls      = "podd_tool_calls_total"
	toolSeconds    = "podd_tool_seconds_total"
	alerts         = "podd_alerts_total"
	approvals      = "podd_approvals_total"
	recovered      = "podd_turns_recovered_total"

	Pods             = "podd_pods"
	PodsLoaded       = "podd_pods_loaded"
	ApprovalsWaiting = "podd_approvals_waiting"
	Submits          = "podd_submits_waiting"
	Streams          = "podd_streams_open"
	Connections      = "podd_connections_open"
	Commits          = "podd_store_commits_total"
	CommitSeconds    = "podd_store_commit_seconds_total"
	StoreBytes       = "podd_store_bytes"
)

// families are all metrics, in the order of a page.
var families = []family{
	{Pods, "gauge", "Pods by state."},
	{PodsLoaded, "gauge", "Pods in memory."},
	{Submits, "gauge", "Submits in queues."},
	{ApprovalsWaiting, "gauge", "Tool calls that wait for approval."},
	{turns, "counter", "Turns that ended, by outcome."},
	{recovered, "counter", "Turns that resumed after a restart of podd."},
	{requests, "counter", "Requests to a model, by outcome: ok, cancelled, or the class of the failure. Most failures are retried."},
	{requestSeconds, "counter", "Duration of requests, by outcome."},
	{tokens, "counter", "Tokens billed, by model and kind: input includes cached tokens, output includes reasoning."},
	{cost, "counter", "Cost in USD of requests to models with a price."},
	{toolCalls, "counter", "Tool calls that ended, by tool and outcome."},
	{toolSeconds, "counter", "Running time of tools."},
	{approvals, "counter", "Approval questions: asked, and by answer."},
	{alerts, "counter", "Alerts raised, by level and source."},
	{Streams, "gauge", "Open streams of clients."},
	{Connections, "gauge", "Open connections of clients."},
	{Commits, "counter", "Write transactions of the store; each is synced to disk."},
	{CommitSeconds, "counter", "Duration of write transactions, including their syncs."},
	{StoreBytes, "gauge", "Size of the database file."},
	{"go_goroutines", "gauge", "Number of goroutines that currently exist."},
	{"go_gc_cycles_total", "counter", "Garbage collections."},
	{"go_memstats_alloc_bytes", "gauge", "Bytes of allocated heap objects."},
	{"go_memstats_sys_bytes", "gauge", "Bytes of memory obtained from the system."},
	{"go_info", "gauge", "The version of Go."},
	{"process_start_time_seconds", "gauge", "Start time of the process since the epoch, in seconds."},
}
