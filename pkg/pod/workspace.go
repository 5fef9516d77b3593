package pod

import (
	"os"
	"path/filepath"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
)

// workspace is what a pod works on: its files and its tools. It stays open while
// the pod is loaded, so that its tools remember which files were read.
type workspace struct {
	fs    *scopefs.FS
	tools *tool.Registry
}

// workspace opens the pod's workspace at first use.
func (a *actor) workspace() (*workspace, error) {
	if a.work != nil {
		return a.work, nil
	}
	work, err := a.host.openWorkspace(a.rec)
	if err != nil {
		return nil, err
	}
	a.work = work
	return work, nil
}

func (h *Host) openWorkspace(rec item.Pod) (*workspace, error) {
	fs, err := scopefs.Open(scopefs.Config{Dir: rec.Spec.Dir, Read: rec.Spec.Read, Write: rec.Spec.Write})
	if err != nil {
		return nil, err
	}
	tools, err := h.tools(rec, fs)
	if err != nil {
		_ = fs.Close()
		return nil, err
	}
	return &workspace{fs: fs, tools: tools}, nil
}

func (h *Host) tools(rec item.Pod, fs *scopefs.FS) (*tool.Registry, error) {
	spool := h.spoolDir(rec.ID)
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, err
	}
	tools, err := builtin.New(builtin.Config{FS: fs, SpoolDir: spool, Limits: h.ToolOutput, Logger: h.Logger})
	if err != nil {
		return nil, err
	}
	return tool.NewRegistry(append(tools, h.Tools...)...)
}

// spoolDir is the folder of a pod's command output.
func (h *Host) spoolDir(pod string) string { return filepath.Join(h.SpoolDir, pod) }

func (w *workspace) close() { _ = w.fs.Close() }
