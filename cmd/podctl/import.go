package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/imports/sessions"
	"podd/internal/sanitize"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// importOptions are the flags of import.
type importOptions struct {
	all, everywhere, yes bool
	as, dir              string
}

func (o *importOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import AGENT [SESSION]",
		Short: "Make pods of sessions of claude, codex, opencode or pi",
		Long: "Makes a pod of a session of another agent: claude, codex, opencode or pi. SESSION is its id, the beginning of it, or a file. " +
			"Without SESSION it lists the sessions of this directory. The pod has the messages, tool calls, results and pictures, and works where the " +
			"session worked, or here if that directory is gone. A session is imported once: again, it changes nothing.",
		Example: "  podctl import claude\n  podctl import claude 3f9c\n  podctl import codex --all --everywhere",
		PreRunE: func(_ *cobra.Command, args []string) error {
			switch {
			case !slices.Contains(sessions.Agents(), args[0]):
				return usagef("no agent is called %q: use %s", args[0], strings.Join(sessions.Agents(), ", "))
			case o.all && len(args) > 1:
				return usagef("--all imports all sessions: leave %s out", args[1])
			case o.as != "" && len(args) < 2:
				return usagef("--as names the pod of one session: name the session too")
			}
			return nil
		},
		RunE: p.onPodd(o.run),
	}
	cmd.ValidArgs = sessions.Agents()
	cmd.Flags().BoolVar(&o.all, "all", false, "import all sessions of this directory")
	cmd.Flags().BoolVar(&o.everywhere, "everywhere", false, "list, or with --all import, those of all directories")
	cmd.Flags().StringVar(&o.as, "as", "", "the pod's name; imports a session that is a pod already as another pod")
	cmd.Flags().StringVar(&o.dir, "dir", "", "the pod's directory (default: that of the session)")
	yesFlag(cmd, &o.yes)
	return cmd
}

func (o *importOptions) run(ctx context.Context, s *session, args []string) error {
	agent := args[0]
	if len(args) > 1 {
		stored, err := findSession(ctx, s.program, agent, args[1])
		if err != nil {
			return err
		}
		read, err := stored.Read(ctx, s.env)
		if err != nil {
			return err
		}
		return o.one(ctx, s, read)
	}
	found, err := o.sessions(ctx, s.program, agent)
	if err != nil {
		return err
	}
	if !o.all {
		return listSessions(ctx, s.program, found)
	}
	failed, subs := 0, 0
	for _, stored := range found {
		read, err := stored.Read(ctx, s.env)
		switch {
		case err == nil && read.Sub:
			subs++
			continue
		case err == nil:
			err = o.one(ctx, s, read)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(s.stderr, "! not imported: %s\n", sanitize.Line(err.Error()))
		}
	}
	if subs > 0 {
		fmt.Fprintf(s.stderr, "%s of sub-agents left out\n", plural(subs, "session"))
	}
	if failed > 0 {
		return fmt.Errorf("%s of %d not imported", plural(failed, "session"), len(found))
	}
	return nil
}

// sessions are the sessions of this directory, or of all.
func (o *importOptions) sessions(ctx context.Context, p *program, agent string) ([]sessions.Stored, error) {
	found, err := sessions.List(ctx, agent, p.env)
	if err != nil || o.everywhere {
		return found, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("cannot read the current directory: %w", err)
	}
	found = slices.DeleteFunc(found, func(s sessions.Stored) bool {
		dir := s.Dir()
		resolved, err := filepath.EvalSymlinks(dir)
		return dir != here && (err != nil || resolved != here)
	})
	if len(found) == 0 {
		return nil, fmt.Errorf("no session of %s in this directory: --everywhere has those of all", agent)
	}
	return found, nil
}

// findSession finds a session by its id, the beginning of it, or its path.
func findSession(ctx context.Context, p *program, agent, name string) (s sessions.Stored, err error) {
	if info, err := os.Stat(name); strings.ContainsRune(name, filepath.Separator) || err == nil && !info.IsDir() {
		path, err := filepath.Abs(name)
		return sessions.Stored{Agent: agent, File: path}, err
	}
	found, err := sessions.List(ctx, agent, p.env)
	if err != nil {
		return s, err
	}
	var like []sessions.Stored
	for _, s := range found {
		switch {
		case s.ID == name:
			return s, nil
		case strings.HasPrefix(s.ID, name):
			like = append(like, s)
		}
	}
	switch len(like) {
	case 0:
		return s, fmt.Errorf("no session of %s has the id %s: podctl import %s --everywhere lists them", agent, name, agent)
	case 1:
		return like[0], nil
	}
	return s, fmt.Errorf("%d sessions of %s begin with %s, such as %s and %s: write more of the id", len(like), agent, name, like[0].ID, like[1].ID)
}

// listSessions says which sessions there are, the newest first, and what to type.
func listSessions(ctx context.Context, p *program, found []sessions.Stored) error {
	t := table{"SESSION\tLAST\tMESSAGES\tTITLE\tDIR"}
	last := ""
	for _, stored := range found {
		if stored.File == "" { // Counting its messages would start a program.
			last = cmp.Or(last, stored.ID)
			t.row(stored.ID, clock(stored.Time, p.now()), "-", stored.Title, stored.Dir())
			continue
		}
		s, err := stored.Read(ctx, p.env)
		switch {
		case err != nil:
			fmt.Fprintf(p.stderr, "! %s\n", sanitize.Line(err.Error()))
		case !s.Sub:
			last = cmp.Or(last, s.ID)
			t.row(s.ID, clock(s.Time, p.now()), s.Messages(), s.Title, s.Dir)
		}
	}
	if err := t.writeTo(p.stdout); err != nil || last == "" {
		return err
	}
	_, err := fmt.Fprintf(p.stderr, "podctl import %s %s makes a pod of it, --all of each\n", found[0].Agent, sanitize.Line(last))
	return err
}

// one imports a session.
func (o *importOptions) one(ctx context.Context, s *session, read *sessions.Session) error {
	to := &poddv1.ImportedSession{Agent: read.Agent, Id: valid(read.ID), File: valid(read.File), Title: read.Title, Name: valid(o.as), Dir: valid(read.Dir)}
	var err error
	switch {
	case o.dir != "":
		err = s.at.directory(o.dir, &to.Dir)
	case !s.at.remote():
		err = s.at.directory(".", &to.ElseDir)
	}
	if err != nil {
		return err
	}
	works := to.GetDir()
	if info, err := os.Stat(works); !s.at.remote() && o.dir == "" && (err != nil || !info.IsDir()) {
		works = to.GetElseDir()
	}
	if err := s.allowWide(ctx, works, o.yes); err != nil {
		return err
	}
	resp, err := send(ctx, s, to, read)
	return s.answer(resp, err, func(w io.Writer) error { return imported(w, read, resp) })
}

// send sends a session to podd.
func send(ctx context.Context, s *session, to *poddv1.ImportedSession, read *sessions.Session) (*poddv1.ImportSessionResponse, error) {
	stream, err := s.Imports().ImportSession(ctx)
	if err != nil {
		return nil, wire.FromStatus(err)
	}
	err = stream.Send(&poddv1.ImportSessionRequest{Kind: &poddv1.ImportSessionRequest_Session{Session: to}})
	for i := 0; i < len(read.Items) && err == nil; i++ {
		it := &read.Items[i]
		err = stream.Send(&poddv1.ImportSessionRequest{Kind: &poddv1.ImportSessionRequest_Item{Item: &poddv1.ImportedItem{
			Record: valid(it.Record), Time: timestamppb.New(it.Time), Item: wire.ItemToProto(it.Item), Images: it.Images,
			Synthetic: it.Synthetic, Joined: it.Joined, Keeps: valid(it.Keeps),
		}}})
	}
	if err != nil && !errors.Is(err, io.EOF) { // Then podd's own error comes.
		return nil, wire.FromStatus(err)
	}
	resp, err := stream.CloseAndRecv()
	return resp, wire.FromStatus(err)
}

// imported says what became of a session.
func imported(w io.Writer, read *sessions.Session, resp *poddv1.ImportSessionResponse) error {
	id, pod := sanitize.Line(read.ID), sanitize.Line(resp.GetPod().GetName())
	if resp.GetKnown() {
		return line("session %s is pod %s already; nothing changed", id, pod)(w)
	}
	text := fmt.Sprintf("imported session %s as pod %s in %s: %s, %s, %s", id, pod, sanitize.Line(resp.GetPod().GetSpec().GetDir()),
		plural(int(resp.GetMessages()), "message"), plural(int(resp.GetCalls()), "tool call"), plural(int(resp.GetResults()), "result"))
	for _, note := range []struct {
		what string
		n    int32
	}{{"calls without a result", resp.GetClosed()}, {"left out", resp.GetLeftOut()}, {"lines that are no JSON", int32(read.Unread)}} {
		if note.n > 0 {
			text += fmt.Sprintf("; %s: %d", note.what, note.n)
		}
	}
	return line("%s", text)(w)
}
