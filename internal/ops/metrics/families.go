package metrics

// family is a metric with all its series.
type family struct {
	name, kind, help string
}

// The names of what a Recorder counts, and of what others add to a page.
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
	{Submits, "gauge", "Submits that wait for their turn."},
	{ApprovalsWaiting, "gauge", "Calls that wait for a person."},
	{turns, "counter", "Turns that ended, by outcome."},
	{recovered, "counter", "Turns that went on after podd had ended."},
	{requests, "counter", "Requests to a model, by outcome: ok, cancelled, or the class of the failure. What failed is mostly tried again."},
	{requestSeconds, "counter", "Time that requests took, by outcome."},
	{tokens, "counter", "Tokens billed, by model and kind: input counts cached ones, output counts reasoning."},
	{cost, "counter", "Cost in USD of requests whose model has a price."},
	{toolCalls, "counter", "Tool calls that ended, by tool and outcome."},
	{toolSeconds, "counter", "Time that tools ran."},
	{approvals, "counter", "Questions to a person: asked, and how they were answered."},
	{alerts, "counter", "Alerts raised, by level and source."},
	{Streams, "gauge", "Streams that clients hold open."},
	{Connections, "gauge", "Connections of clients."},
	{Commits, "counter", "Transactions of the store that wrote; each is synced to disk."},
	{CommitSeconds, "counter", "Time that these took, their syncs included."},
	{StoreBytes, "gauge", "Size of the database file."},
	{"go_goroutines", "gauge", "Number of goroutines that currently exist."},
	{"go_gc_cycles_total", "counter", "Collections of garbage."},
	{"go_memstats_alloc_bytes", "gauge", "Bytes of allocated heap objects."},
	{"go_memstats_sys_bytes", "gauge", "Bytes of memory obtained from the system."},
	{"go_info", "gauge", "The version of Go."},
	{"process_start_time_seconds", "gauge", "Start time of the process since the epoch, in seconds."},
}
