package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/version"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// versionPatience bounds how long podctl waits for a podd that may not be running.
const versionPatience = time.Second

func newVersionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of podctl and podd",
		Long: "Shows the versions of podctl and of the running podd. With -o json it prints podd's status; if podd is not " +
			"running, a status with podctl's version and pid 0.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.startFor = -1 // "podd is not running" is an answer too.
			status, err := p.status(cmd.Context())
			return p.version(status, err == nil)
		},
	}
}

// status asks podd what it is.
func (p *program) status(ctx context.Context) (status *poddv1.GetStatusResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	err = p.with(func(s *session) error {
		status, err = s.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
		return err
	})
	return status, err
}

// version prints both versions.
func (p *program) version(status *poddv1.GetStatusResponse, running bool) error {
	podd := fmt.Sprintf("%s (pid %d)", sanitize.Line(status.GetVersion()), status.GetPid())
	if !running {
		podd, status = "not running", &poddv1.GetStatusResponse{Version: version.String()}
	} else if note := age(status); note != "" && p.output == outputText {
		p.warn([]string{note})
	}
	return p.print(status, line("podctl: %s\npodd: %s", version.String(), podd))
}

// age says in one sentence that podd and podctl are of different versions, and what to do;
// empty when they are of one.
func age(s *poddv1.GetStatusResponse) string {
	mine, theirs := wire.APILevel(), s.GetApiLevel()
	both := fmt.Sprintf("podd is %s, podctl is %s", s.GetVersion(), version.String())
	switch {
	case theirs < mine:
		return "podd is older than podctl; restart podd to get the new features: podd service restart (" + both + ")"
	case theirs > mine:
		return "podd is newer than podctl; update podctl to see the new features (" + both + ")"
	case strings.SplitN(s.GetVersion(), " ", 2)[0] != version.Get().Version:
		return "podd and podctl are of different versions; restart podd after an update: podd service restart (" + both + ")"
	}
	return ""
}

// explainAge replaces the error of a call that podd does not know when podd is older
// than podctl.
func (p *program) explainAge(ctx context.Context, err error) error {
	e, ok := errors.AsType[*item.Error](err)
	if !ok || e.Kind != item.KindUnimplemented {
		return err
	}
	status, asked := p.status(ctx)
	if asked != nil || status.GetApiLevel() >= wire.APILevel() {
		return err
	}
	older := item.Errorf(e.Kind, e.Reason, "podd %s is older than podctl %s and does not support this: install the newer podd, then run podd service restart",
		status.GetVersion(), version.String())
	older.Cause = err
	return older
}
