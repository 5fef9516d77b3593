package pod

import (
	"os"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/spool"
)

// workspace is what a pod works on: its files and its tools. It stays open while
// the pod is loaded, so that its tools remember which files were read.
type workspace struct {
	fs    *scopefs.FS
	spool *spool.Folder
	// depth is how many pods are above the pod.
	depth int
	// own are the pod's own tools, made under settings and anew under others, in the pod's
	// goroutine.
	own      toolset
	settings *settings
	// skillsDir is the user's directory of skills; empty when there is none.
	skillsDir string
}

// ownTools are a pod's own, those of s.
func (h *Host) ownTools(s *settings, rec item.Pod, w *workspace) (toolset, error) {
	if w.settings == s {
		return w.own, nil
	}
	own, err := h.tools(s, rec, w)
	if err != nil {
		return own, err
	}
	w.own, w.settings = own, s
	return own, nil
}

// openWorkspace may hang.
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
	shown := []string{folder.Dir()}
	skillsDir := h.SkillsDir
	if info, err := os.Stat(skillsDir); skillsDir == "" || err != nil || !info.IsDir() {
		skillsDir = ""
	} else {
		read, shown = append(read, skillsDir), append(shown, skillsDir)
	}
	fs, err := scopefs.Open(scopefs.Config{
		Dir: rec.Spec.Dir, Read: read, Write: rec.Spec.Write, Hidden: h.Hidden, Shown: shown, Within: outer,
		OnApproved: h.Shell.Sandbox.Allow,
	})
	if err != nil {
		return nil, noDirectory(rec, err)
	}
	return &workspace{fs: fs, spool: folder, depth: len(above), skillsDir: skillsDir}, nil
}

// noDirectory is the error of a directory of the pod that can't be opened, with a way out.
func noDirectory(rec item.Pod, err error) error {
	if item.ReasonOf(err) != "BAD_DIR" {
		return err
	}
	e := item.Errorf(item.KindOf(err), "BAD_DIR", "%v; podctl update %s changes the pod's directories", err, rec.Name)
	e.Cause = err
	return e
}

// tools makes a pod's own.
func (h *Host) tools(s *settings, rec item.Pod, work *workspace) (toolset, error) {
	tools, err := builtin.New(builtin.Config{
		FS: work.fs, Spool: work.spool, Shell: h.Shell, Logger: h.Logger,
		Limits: s.ToolOutput, Search: s.Search, Tree: s.Tree, ListDir: s.ListDir, Glob: s.Glob,
	})
	if err != nil {
		return toolset{}, err
	}
	own := toolset{names: rec.Spec.Tools, tools: chosen(rec.Spec.Tools, append(tools, h.Tools...)), log: h.Logger}
	if h.SubPods != nil && rec.Spec.SubPods > 0 && work.depth < MaxDepth {
		own.spawn = h.SubPods(rec, work.depth, work.fs)
	}
	return own, nil
}

// close asks no file system: what is open are directories.
func (w *workspace) close() { _ = w.fs.Close() }
