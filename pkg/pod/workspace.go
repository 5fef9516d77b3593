package pod

import (
	"podd/internal/instructions"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/spool"
)

// workspace is what a pod works on: its files and its tools. It stays open while
// the pod is loaded, so that its tools remember which files were read.
type workspace struct {
	fs    *scopefs.FS
	tools *tool.Registry
	spool *spool.Folder
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
	folder, err := h.spool.Folder(rec.ID)
	if err != nil {
		return nil, err
	}
	above, err := h.ancestors(h.base, rec.Spec)
	if err != nil {
		return nil, err
	}
	outer, err := within(rec.Spec, above)
	if err != nil {
		return nil, err
	}
	// What a cut left out can be read where its marker says.
	read := append([]string{folder.Dir()}, rec.Spec.Read...)
	fs, err := scopefs.Open(scopefs.Config{
		Dir: rec.Spec.Dir, Read: read, Write: rec.Spec.Write, Hidden: h.Hidden, Shown: []string{folder.Dir()}, Within: outer,
	})
	if err != nil {
		return nil, err
	}
	tools, err := h.tools(rec, len(above), fs, folder)
	if err != nil {
		_ = fs.Close()
		return nil, err
	}
	return &workspace{fs: fs, tools: tools, spool: folder}, nil
}

// tools are those of a pod with so many above it.
func (h *Host) tools(rec item.Pod, depth int, fs *scopefs.FS, folder *spool.Folder) (*tool.Registry, error) {
	tools, err := builtin.New(builtin.Config{
		FS: fs, Spool: folder, Limits: h.ToolOutput, Shell: h.Shell, Search: h.Search, Tree: h.Tree, ListDir: h.ListDir, Glob: h.Glob, Logger: h.Logger,
	})
	if err != nil {
		return nil, err
	}
	tools = chosen(rec.Spec.Tools, append(tools, h.Tools...))
	if rec.Spec.SubPods > 0 && depth < maxDepth {
		tools = append(tools, chosen(rec.Spec.Tools, []tool.Tool{h.newSpawner(rec, fs, tools)})...)
	}
	return tool.NewRegistry(tools...)
}

// project is what the workspace says about how work is done in it.
func (w *workspace) project() (text string, warnings []string) {
	found := instructions.Read(w.fs)
	return found.Text, found.Warnings
}

func (w *workspace) close() { _ = w.fs.Close() }
