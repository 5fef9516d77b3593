// Package worker runs turns: it asks the model, runs the tools that the model calls and
// asks again, until the model makes no more calls.
//
// A turn is a sequence of steps: claim, ask, accept the answer, run its calls, end. Its
// parts are the asker (requests of the model), the judge (which calls run), the caller
// (runs them), the gate (what happens between steps) and the journal, through which all
// of them store. The turn stores everything before it acts on it: the claim before the
// first request, the calls before the tools run, the results before it uses anything of
// the answer to the request that carries them. Whatever happens, each call gets one
// result and the turn one terminal entry; only a failed log leaves a turn open.
//
// An answer has text that is not blank, or a call. The model is asked once more after any other,
// and the second in a row ends the turn. Such an answer is a step and not a retry: the same
// request gives the same answer, and a step counts toward limits, waits for a paused pod and
// follows from the log after a restart. The endpoint's reason to stop does not decide, because
// many servers mix up stop and tool_calls.
//
// A call whose path leads elsewhere when it starts is judged again. An error would answer a
// person's approval, and the model would try something else. So tool_started means that the
// call may have had effects, unless a question for it follows.
//
// A Worker keeps no state between turns. One turn belongs to one goroutine, which starts
// the goroutines of its tools and waits for them.
package worker
