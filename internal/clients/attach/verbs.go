package attach

import (
	"context"
	"slices"
	"strings"
	"time"

	"podd/internal/clients/view"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// elsewhere are the names that other programs have for commands: the view's name, or the line of
// podctl.
var elsewhere = map[string]string{
	"approvals": "approve-mode", "allowed-tools": "approve-mode", "permissions": "approve-mode",
	"bg": "quit", "detach": "quit", "exit": "quit",
	"bashes": "jobs", "ps": "jobs", "tasks": "jobs",
	"branch": "fork", "checkpoint": "rewind", "clear": "new", "cost": "status", "find": "search", "keybindings": "help",
	"models": "model", "redo": "undo", "reset": "new", "save": "export", "share": "export", "stats": "usage", "title": "rename", "todo": "todos",
	"continue": "resume", "pods": "resume", "sessions": "resume",

	"doctor": "podctl status", "inbox": "podctl inbox -p POD", "queue": "podctl inbox -p POD", "rules": "podctl rules -p POD", "version": "podctl version",
}

// instead says what to use for a command that other programs have.
var instead = map[string]string{
	"add-dir":    "podctl update POD --read DIR or --write DIR, in your shell",
	"agent":      "podctl top, in your shell, shows what all pods do; /resume lists them",
	"agents":     "podctl top, in your shell, shows what all pods do; /resume lists them",
	"cancel":     "Esc interrupts the turn",
	"config":     "settings are in ~/.config/podd/config.toml, those of the view in desk.toml beside it; podctl reload applies changes",
	"copy":       "Alt-C copies the last answer",
	"delete":     "podctl delete POD, in your shell",
	"editor":     "Ctrl-G opens the draft in $EDITOR",
	"history":    "Up and Ctrl-R recall prompts; /search finds text",
	"hooks":      "hooks and interceptors are in ~/.config/podd/config.toml",
	"init":       "send a prompt such as: write an AGENTS.md for this repository",
	"login":      "podd takes an API key from its environment; /doctor says whether it has one",
	"logout":     "podd takes an API key from its environment; /doctor says whether it has one",
	"memory":     "podd reads AGENTS.md or CLAUDE.md of the directory and those above; ~/.config/podd/AGENTS.md is for all pods",
	"mention":    "type @ and a few letters of a path",
	"pause":      "podctl pause POD, in your shell; Esc interrupts the turn",
	"review":     "send a prompt, or write a command of your own: ~/.config/podd/prompts/review.md",
	"sandbox":    "/doctor says which sandbox runs commands, /approve-mode when calls ask",
	"settings":   "settings are in ~/.config/podd/config.toml, those of the view in desk.toml beside it; podctl reload applies changes",
	"skills":     "/NAME uses a skill, /context lists those that the model knows",
	"stop":       "Esc interrupts the turn",
	"theme":      "set theme in ~/.config/podd/desk.toml: light, dark or auto",
	"transcript": "Ctrl-T shows arguments and output; /export writes the conversation to a file",
	"vim":        "there are no vi keys; Ctrl-G opens the draft in $EDITOR",
}

// bare are drafts that are commands without a slash.
var bare = map[string]string{"?": "help", "exit": "quit", "quit": "quit", ":q": "quit"}

// verb runs a verb of podctl and shows its output in the transcript. POD among its words is the
// pod; args come last.
func (a *app) verb(line, args string) {
	words := strings.Fields(strings.ReplaceAll(line, "POD", a.pod.GetName()))[1:]
	typed, err := shellWords(args)
	if err != nil {
		a.said = err.Error()
		return
	}
	words = append(words, typed...)
	run := &shellRun{command: strings.TrimSpace("podctl " + strings.Join(words[:len(words)-len(typed)], " ") + " " + args), only: true}
	b := &block{Block: transcript.Block{Kind: transcript.Notice}, run: run}
	a.log.blocks = append(a.log.blocks, b)
	a.view = scroll{}
	began, output := time.Now(), ""
	a.call(func(ctx context.Context) error {
		output = a.Verb(ctx, words)
		return nil
	}, func(error) {
		run.output, run.ended, b.lines = output, view.Duration(time.Since(began)), nil
		a.askStatus(true)
	})
}

// resume shows another pod, or lists them.
func (a *app) resume(args string) {
	if args == "" {
		a.verb("podctl list", "")
		a.said = "/resume POD shows another pod; Tab completes it"
		return
	}
	ask(a.call, a.Client.Pods().GetPod, &poddv1.GetPodRequest{Pod: args}, func(resp *poddv1.GetPodResponse, err error) {
		a.told(err)
		switch pod := resp.GetPod(); {
		case err != nil:
		case pod.GetId() == a.pod.GetId():
			a.said = "this is pod " + a.pod.GetName()
		default:
			a.leaveFor(pod.GetId(), "", false)
		}
	})
}

// askPods asks podd for the pods once /resume is in the draft.
func (a *app) askPods() {
	if a.prompt.draft.text() != "/resume" {
		return
	}
	ask(a.call, a.Client.Pods().ListPods, &poddv1.ListPodsRequest{}, func(resp *poddv1.ListPodsResponse, _ error) {
		a.pods = nil
		for _, p := range resp.GetPods() {
			a.pods = append(a.pods, p.GetName())
		}
	})
}

// podNames are the other pods.
func (a *app) podNames() []string {
	return slices.DeleteFunc(slices.Clone(a.pods), func(name string) bool { return name == a.pod.GetName() })
}
