package attach

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/clients/show"
	"podd/internal/podname"
	"podd/internal/sanitize"
	"podd/internal/typo"
	poddv1 "podd/proto/podd/v1"
)

// slash is a command of the view.
type slash struct {
	// name comes after the slash; args are its arguments, for people.
	name, args, about string
	// idle says that it is refused while a turn runs.
	idle bool
	run  func(a *app, args string)
	// sends runs a command whose argument goes to the model: what was pasted stays so. whole says that the command goes too.
	sends func(a *app, text editor)
	whole bool
	// verb is the line of podctl that the command is.
	verb string
	// offers are the known arguments.
	offers func(a *app) []string
}

// usage is how people write the command, and what it does.
func (s slash) usage() string {
	return fmt.Sprintf("%-23s %s", "/"+strings.TrimSpace(s.name+" "+s.args), s.about)
}

// slashes are the commands: the built-in ones, and the person's own prompts, which replace
// none of them.
func (a *app) slashes() []slash {
	list := builtins()
	for _, p := range a.known.list {
		if !isBuiltin(p.GetName()) {
			list = append(list, commandOf(p))
		}
	}
	return list
}

func isBuiltin(name string) bool {
	return slices.ContainsFunc(builtins(), func(s slash) bool { return s.name == name })
}

func builtins() []slash {
	return []slash{
		{name: "help", about: "lists commands and keys", run: func(a *app, _ string) { a.help() }},
		{name: "model", args: "MODEL", about: "changes the model from the next turn on", run: (*app).setModel, offers: func(a *app) []string { return a.models.names() }},
		{name: "effort", args: "EFFORT", about: "changes how much the model reasons", run: (*app).setEffort, offers: func(a *app) []string { return a.models.efforts(a.pod.GetSpec().GetModel()) }},
		{name: "approve-mode", args: "MODE", about: "changes when calls ask you", run: (*app).setAsk, offers: fixed("never", "risky", "always")},
		{name: "steer", args: "TEXT", about: "sends a prompt that joins the running turn", sends: (*app).steer},
		{name: "plan", args: "TEXT", about: "sends a prompt that only plans", sends: (*app).sendPlan},
		{name: "compact", about: "summarizes the conversation so far", idle: true, run: (*app).compact},
		{name: "rewind", args: "[SEQ]", about: "goes back to before the last prompt, or to an entry", idle: true, run: (*app).rewind},
		{name: "diff", about: "shows what the agent changed in files", run: (*app).diff},
		{name: "undo", args: "[merge]", about: "takes back what the agent changed in files; merge keeps what you changed in other lines", idle: true, run: (*app).undo, offers: fixed("merge")},
		{name: "new", args: "[NAME]", about: "shows a new pod with this directory and these settings", run: (*app).newPod},
		{name: "fork", args: "[NAME]", about: "copies the pod's history to a new pod and shows it", run: (*app).forkPod},
		{name: "resume", args: "[POD]", about: "shows another pod; without POD it lists them", run: (*app).resume, offers: (*app).podNames},
		{name: "rename", args: "NAME", about: "gives the pod another name", verb: "podctl rename -p POD"},
		{name: "status", about: "says what the pod does, its model, context and cost", run: (*app).status},
		{name: "context", about: "lists what the model gets, with its size", verb: "podctl context -p POD"},
		{name: "usage", about: "shows tokens, cost and calls", verb: "podctl stats -p POD"},
		{name: "jobs", about: "lists background commands", verb: "podctl jobs -p POD"},
		{name: "mcp", about: "lists MCP servers", verb: "podctl mcp list -p POD"},
		{name: "search", args: "TEXT", about: "finds text in what all pods said and did", verb: "podctl search"},
		{name: "todos", about: "shows or hides the model's list of tasks", run: func(a *app, _ string) { a.toggleTasks() }},
		{name: "answer", about: "goes to the open question", run: (*app).toQuestion},
		{name: "open", args: "[PICTURE]", about: "opens the last picture on the screen, or one by name or count from the end", run: (*app).open, offers: func(a *app) []string { return a.log.pictureNames() }},
		{name: "export", args: "[FILE] [FORMAT]", about: "writes the conversation to a file: md, html or json", run: (*app).exportLog},
		{name: "quit", about: "leaves; the turn continues", run: func(a *app, _ string) { a.quit = true }},
	}
}

func fixed(words ...string) func(*app) []string { return func(*app) []string { return words } }

// command is the command that the draft is: its name and its arguments. A draft whose slash
// was pasted, or is not the first character, is text.
func (e *editor) command() (name string, args editor, ok bool) {
	if e.empty() || e.cells[0].from != byKey {
		return "", editor{}, false
	}
	if name := bare[e.whole()]; name != "" {
		return name, editor{}, true
	}
	if e.cells[0].g != "/" {
		return "", editor{}, false
	}
	rest := e.cells[1:]
	end := slices.IndexFunc(rest, func(c cell) bool { return c.paste != "" || c.space() })
	if end < 0 {
		end = len(rest)
	}
	return plainText(rest[:end]), editor{cells: trimmed(rest[end:])}, true
}

// obey runs the draft if it is a command, and says whether it is. Nothing is sent for an unknown
// one without a colon. The draft is empty then: what was refused does not mix with what is typed next.
func (a *app) obey() bool {
	name, args, ok := a.prompt.draft.command()
	if !ok {
		return false
	}
	draft := a.prompt.draft
	a.prompt.draft.clear()
	list := a.slashes()
	called := func(name string) int { return slices.IndexFunc(list, func(s slash) bool { return s.name == name }) }
	i := called(name)
	if i < 0 {
		i = called(elsewhere[name])
	}
	if i < 0 {
		i = slices.IndexFunc(list, func(s slash) bool { return s.whole && strings.HasSuffix(s.name, ":"+name) })
	}
	if i < 0 && strings.Contains(name, ":") { // podd may know it, such as a prompt of a server that has not started.
		i, list = 0, []slash{commandOf(nil)}
	}
	if i >= 0 && list[i].whole {
		list[i].sends(a, draft)
		return true
	}
	a.prompt.history.add(draft, "")
	switch {
	case i < 0 && elsewhere[name] != "":
		a.verb(elsewhere[name], args.whole())
	case i < 0 && instead[name] != "":
		a.said = "there is no /" + name + ": " + strings.ReplaceAll(instead[name], "POD", sanitize.Line(a.pod.GetName()))
	case i < 0:
		a.said = a.unknown(list, name)
	case list[i].idle && a.turn != 0:
		a.said = fmt.Sprintf("/%s needs an idle pod; Esc interrupts turn %d", name, a.turn)
	case list[i].verb != "":
		a.verb(list[i].verb, args.whole())
	case list[i].sends != nil:
		list[i].sends(a, args)
	default:
		list[i].run(a, args.whole())
	}
	return true
}

// unknown says so of a command, and which one was probably meant.
func (a *app) unknown(list []slash, name string) string {
	names := slices.Collect(maps.Keys(elsewhere))
	for _, s := range list {
		names = append(names, s.name)
	}
	slices.Sort(names)
	next := "; /help lists them, and a blank before the slash makes it text"
	if near := typo.Nearest(name, names); near != "" {
		next = ": did you mean /" + near + "?"
	}
	return "unknown command /" + sanitize.Line(name) + next
}

// completeCommand completes the draft if it is a command, and says whether it is.
func (a *app) completeCommand() bool {
	_, _, ok := a.prompt.draft.command()
	if !ok {
		return false
	}
	text := a.prompt.draft.text()
	name, args, inArgs := strings.Cut(text[1:], " ")
	if !inArgs {
		var names []string
		for _, s := range a.slashes() {
			if strings.HasPrefix(s.name, name) {
				names = append(names, s.name)
			}
		}
		a.said = a.prompt.completeWord(1, name, names)
		return true
	}
	if a.askModels() {
		a.models.tab = true
		a.begins("asking for the models")
		return true
	}
	if words, takes := a.arguments(); takes {
		a.said = a.prompt.completeWord(len([]rune(name))+2, args, words)
	}
	return true
}

// arguments are the known arguments that fit what is typed: those that begin with it, else
// those that have it. false: the command in the draft takes others.
func (a *app) arguments() (words []string, takes bool) {
	name, typed, _ := strings.Cut(a.prompt.draft.text(), " ")
	list := a.slashes()
	i := slices.IndexFunc(list, func(s slash) bool { return "/"+s.name == name && s.offers != nil })
	if i < 0 {
		return nil, false
	}
	all := list[i].offers(a)
	for _, fits := range []func(word, typed string) bool{strings.HasPrefix, strings.Contains} {
		for _, w := range all {
			if fits(strings.ToLower(w), strings.ToLower(typed)) {
				words = append(words, w)
			}
		}
		if len(words) > 0 {
			break
		}
	}
	return words, true
}

// offers are the completions to show: those asked for by Tab, else the commands or arguments
// that fit what is typed.
func (a *app) offers() []string {
	name, _, ok := a.prompt.draft.command()
	if len(a.prompt.offered) > 0 || !ok || a.calls.answering {
		return a.prompt.offered
	}
	var list []string
	if _, typed, inArgs := strings.Cut(a.prompt.draft.text(), " "); inArgs {
		words, _ := a.arguments()
		for _, w := range words {
			if w != strings.TrimSpace(typed) {
				list = append(list, sanitize.Line(w))
			}
		}
		return list
	}
	for _, s := range a.slashes() {
		if strings.HasPrefix(s.name, name) {
			list = append(list, s.usage())
		}
	}
	return list
}

// help lists commands and keys in the transcript.
func (a *app) help() {
	rows := 0
	say := func(style show.Style, text string) {
		a.log.notice(style, text)
		rows += 1 + cells.Width(text)/max(a.columns, 1)
	}
	for _, s := range a.slashes() {
		say(plain, s.usage())
	}
	keys := []string{
		"Enter sends, or queues while a turn runs; ^S joins the running turn; Esc interrupts it, and twice in an idle pod rewinds",
		"Shift-Tab turns plan mode on or off for the next prompts",
		"!COMMAND runs in your shell, its output joins the draft; !!COMMAND only shows it",
		"Alt-Enter, Shift-Enter or ^J starts a new line; ^G opens $VISUAL or $EDITOR; Tab completes",
		"Up, Down and ^R recall prompts; PgUp, PgDn and the wheel scroll; ^End returns to the end",
		"^Y goes to a question; ^T opens calls; ^O shows tasks; Alt-C copies the last answer; Alt-O opens a picture; ^D leaves",
	}
	for _, l := range keys {
		say(dim, l)
	}
	if rows > a.rows-3 {
		a.said = "PgUp shows the beginning of the help"
	}
}

func (a *app) setAsk(args string) {
	set := func() {
		a.update(&poddv1.PodSpec{Ask: args}, "ask", "calls ask: "+args)
	}
	switch args {
	case "risky", "always":
		set()
	case "never":
		a.confirm("Let all calls run unasked?", set)
	case "":
		a.said = "the pod " + a.setup.asks() + "; /approve-mode never, risky or always changes it"
	default:
		a.said = "give when calls ask: never, risky or always"
	}
}

// steer sends a prompt that joins the running turn.
func (a *app) steer(text editor) {
	if text.empty() {
		a.said = "give the text after /steer"
		return
	}
	a.prompt.draft = text
	a.submit(a.turn != 0)
}

func (a *app) sendPlan(text editor) {
	if text.empty() {
		a.said = "give the task after /plan; Shift-Tab makes all prompts plan"
		return
	}
	plan := a.prompt.plan
	a.prompt.draft, a.prompt.plan = text, true
	a.submit(false)
	a.prompt.plan = plan
}

func (a *app) compact(_ string) {
	a.begins("summarizing the conversation")
	ask(a.call, a.Client.Pods().Compact, &poddv1.CompactRequest{Pod: a.pod.GetId()}, func(_ *poddv1.CompactResponse, err error) { a.told(err) })
}

// podIn makes a name and creates a pod with it: the first that is free. about says in the new
// pod's view what it is.
func (a *app) podIn(name, about string, create func(ctx context.Context, name string) (*poddv1.Pod, error)) {
	base, made := name, (*poddv1.Pod)(nil)
	if name == "" {
		base = a.pod.GetName()
	}
	a.call(func(ctx context.Context) error {
		free := base
		if name == "" {
			all, err := a.Client.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
			if err != nil {
				return err
			}
			taken := func(n string) bool {
				return slices.ContainsFunc(all.GetPods(), func(p *poddv1.Pod) bool { return p.GetName() == n })
			}
			for n := 2; taken(free); n++ {
				free = podname.Numbered(base, n)
			}
		}
		var err error
		made, err = create(ctx, free)
		return err
	}, func(err error) {
		a.told(err)
		if err == nil {
			a.leaveFor(made.GetId(), about, a.prompt.plan)
		}
	})
}

// leaveFor ends the view for that of another pod.
func (a *app) leaveFor(pod, about string, plan bool) {
	a.quit, a.other = true, &arrival{pod: pod, plan: plan, said: about + "/resume " + a.pod.GetName() + " goes back"}
}

// newPod creates a pod like this one, without its history.
func (a *app) newPod(args string) {
	pod := a.pod.GetId()
	a.podIn(args, "a new pod with the settings of "+a.pod.GetName()+"; ", func(ctx context.Context, name string) (*poddv1.Pod, error) {
		now, err := a.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
		if err != nil {
			return nil, err
		}
		spec := now.GetPod().GetSpec()
		spec.Parent, spec.ParentCall, spec.Checkout = "", "", nil
		resp, err := a.Client.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: name, Spec: spec})
		return resp.GetPod(), err
	})
}

func (a *app) forkPod(args string) {
	pod := a.pod.GetId()
	a.podIn(args, "a fork of "+a.pod.GetName()+"; ", func(ctx context.Context, name string) (*poddv1.Pod, error) {
		resp, err := a.Client.Pods().ForkPod(ctx, &poddv1.ForkPodRequest{Pod: pod, Name: name})
		return resp.GetPod(), err
	})
}
