package crash

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A job is what a prompt asks the model to do. The prompt contains it, so that the model
// needs no memory: "job-3: shell/30/0 write; ask/10/0". Steps are separated by a
// semicolon, the calls of a step by a blank.
//
//	shell/MS/STATUS  a command that takes so long and exits so
//	ask/MS/STATUS    the same, after a person has agreed
//	question         a question to a person
//	hold             a command that waits until the round opens its gate
//	edit/MS/STATUS   a command that changes files of the workspace
//	many             a command that makes many files
//	commit           a command that commits all files of a repository
//	write, read      file tools
//	over, fix, patch file tools that change files which other calls change, too
//	change/MS/STATUS a command that makes a directory with a file
//	later/MS         the same in the background
//	keep/MS          a command that syncs its note that it began
//	look, pay        tools of an MCP server: one that only reads, and one that does not
//	spawn/MS/STATUS  a pod of its own, whose job is such a command
//	begin/MS/STATUS  the same in the background
//	wait             waits for those in the background
//	send             a letter to a pod of the round, which may be the pod itself
//	stall            no call: the answer stops in its middle until the gate opens
//	back             a command in the background with a terminal, the pod's job 1
//	type             types into job 1, and waits until it has answered
type job struct {
	number string
	steps  [][]action
}

type action struct {
	verb       string
	ms, status int
}

var jobText = regexp.MustCompile(`(job-[0-9]+):([a-z0-9/; ]*)`)

// parseJob reads a prompt.
func parseJob(text string) (j job, ok bool) {
	found := jobText.FindStringSubmatch(text)
	if found == nil {
		return j, false
	}
	j.number = found[1]
	for step := range strings.SplitSeq(found[2], ";") {
		var actions []action
		for word := range strings.FieldsSeq(step) {
			parts := strings.Split(word, "/")
			a := action{verb: parts[0]}
			if len(parts) == 3 {
				a.ms, _ = strconv.Atoi(parts[1])
				a.status, _ = strconv.Atoi(parts[2])
			}
			actions = append(actions, a)
		}
		if len(actions) > 0 {
			j.steps = append(j.steps, actions)
		}
	}
	return j, true
}

// randomJob is the prompt of a job of one to three steps.
func randomJob(random *rand.Rand, n int, asks bool) string {
	verbs := []string{"shell", "shell", "shell", "shell", "write", "read", "spawn", "begin", "wait", "send", "type"}
	if asks {
		verbs = append(verbs, "ask", "question")
	}
	var steps []string
	for range 1 + random.IntN(3) {
		var calls []string
		for range 1 + random.IntN(2) {
			verb := verbs[random.IntN(len(verbs))]
			if slices.Contains([]string{"shell", "ask", "spawn", "begin"}, verb) {
				verb = fmt.Sprintf("%s/%d/%d", verb, random.IntN(60), random.IntN(4)/3*3)
			}
			calls = append(calls, verb)
		}
		steps = append(steps, strings.Join(calls, " "))
	}
	return fmt.Sprintf("job-%d: %s", n, strings.Join(steps, "; "))
}

// Files of a workspace.
const (
	// ranFile has a line for each command that began, endedFile for each that came to
	// its end.
	ranFile, endedFile = "ran", "ended"
	// gateFile releases the commands that wait for the gate.
	gateFile = "gate"
	// backFile has a line for each background command, typedFile what was typed into them.
	backFile, typedFile = "back", "typed"
	// readFile is there to be read.
	readFile = "notes.txt"
)

// askMark makes the harness's interceptor ask.
const askMark = ": ask-a-person;"

// command is what the shell call with this id runs. It notes the id before and after.
func (a action) command(id string) string {
	wait := fmt.Sprintf("sleep 0.%03d", a.ms)
	mark := ""
	switch a.verb {
	case "back":
		return fmt.Sprintf("echo %s >>%s; while read line; do echo $line >>%s; until [ -e %s ]; do sleep 0.02; done; echo answered; done",
			id, backFile, typedFile, gateFile)
	case "edit":
		n, _ := strconv.Atoi(strings.TrimPrefix(id, "c"))
		return fmt.Sprintf("printf %s >f-%d; %s; mkdir -p d-%d; printf %s >d-%d/x; chmod 6%d0 d-%d/x; rm -f f-%d; [ ! -e f-%d ] || mv f-%d f-%d; exit %d",
			id, n%5, wait, n%3, id, n%3, n%4+4, n%3, (n+2)%5, (n+1)%5, (n+1)%5, (n+3)%5, a.status)
	case "many":
		return fmt.Sprintf("mkdir many-%s; for i in $(seq 300); do echo %s >many-%s/$i; done", id, id, id)
	case "commit":
		return "git add -A && git commit -q -m " + id
	case "hold":
		wait = "until [ -e " + gateFile + " ]; do sleep 0.02; done"
	case "ask":
		mark = askMark + " "
	case "later":
		return fmt.Sprintf("mkdir d-%s && echo %s >d-%s/x; %s; mv d-%s/x d-%s/y; echo %s >>%s", id, id, id, wait, id, id, id, laterFile)
	case "keep":
		return fmt.Sprintf("echo %s >>%s; sync %s; %s; echo out-%s", id, ranFile, ranFile, wait, id)
	case "change":
		wait = fmt.Sprintf("mkdir d-%s && echo %s >d-%s/x; %s; mv d-%s/x d-%s/y", id, id, id, wait, id, id)
	}
	return fmt.Sprintf("%secho %s >>%s; %s; echo %s >>%s; echo out-%s; exit %d", mark, id, ranFile, wait, id, endedFile, id, a.status)
}

// answer is what the model says when a job is done.
func (j job) answer() string { return "All of " + j.number + " is done now." }

// spawned is the job of the pod that the call with this number spawns.
func (a action) spawned(call int) string {
	return fmt.Sprintf("job-%d: shell/%d/%d", spawnedJobs+call, a.ms, a.status)
}

// spawnedJobs is the first number of the jobs of sub-pods.
const spawnedJobs = 100_000

// runs says whether the action is a shell command.
func (a action) runs() bool {
	return a.verb == "shell" || a.verb == "ask" || a.verb == "hold" || a.verb == "change"
}
