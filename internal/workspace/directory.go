package workspace

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"podd/internal/guard/policy"
	"podd/internal/letters"
	"podd/internal/shell"
	"podd/internal/tools/builtin"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// directory is an open workspace: files and tools. It stays open while the pod is loaded,
// so that its tools remember which files were read.
type directory struct {
	spec  item.PodSpec
	fs    *scopefs.FS
	spool *spool.Folder
	// listings is for completion.
	listings listings
	// depth is the number of pods above this one.
	depth int
	// parent is the name of the pod that spawned it; empty for one that a person made.
	parent string
	// skillsDirs are the user's directories of skills.
	skillsDirs []skills.Dir
	// own are the pod's own tools, made for settings and remade when those change. They
	// belong to the pod's goroutine.
	own      toolset
	settings *Settings
	// network is what its commands reached when the tools were made.
	network bool
}

// open opens the directory of a spec. It may hang.
func (w *Workspace) open(spec item.PodSpec) (*directory, error) {
	folder, err := w.all.spool.Folder(w.id)
	if err != nil {
		return nil, err
	}
	above, err := w.above()
	if err != nil {
		return nil, err
	}
	outer, err := within(spec, above)
	if err != nil {
		return nil, err
	}
	// A tool can read what was cut from the file that the marker names.
	read := append([]string{folder.Dir()}, spec.Read...)
	shown := []string{folder.Dir()}
	skillsDirs := w.skillsDirs()
	for _, dir := range skillsDirs {
		read, shown = append(read, dir.Path), append(shown, dir.Path)
	}
	fs, err := scopefs.Open(scopefs.Config{
		Dir: spec.Dir, Read: read, Write: spec.Write, Hidden: w.all.Hidden, Shown: shown, Checkouts: w.all.CheckoutDir, Within: outer,
		OnApproved: w.all.Shell.Sandbox.Allow,
	})
	if err != nil {
		return nil, w.noDirectory(err)
	}
	d := &directory{spec: spec, fs: fs, spool: folder, depth: len(above), skillsDirs: skillsDirs}
	if len(above) > 0 {
		d.parent = above[0].Name
	}
	return d, nil
}

// skillsDirs are the user's directories of skills that there are, by their real paths.
func (w *Workspace) skillsDirs() (dirs []skills.Dir) {
	if w.all.SkillsDirs == nil {
		return nil
	}
	for _, dir := range w.all.SkillsDirs() {
		if path, err := filepath.EvalSymlinks(dir.Path); err == nil {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				dirs = append(dirs, skills.Dir{Path: path, Plugin: dir.Plugin})
			}
		}
	}
	return dirs
}

// noDirectory is the error for a pod's directory that can't be opened; it says what to
// do.
func (w *Workspace) noDirectory(err error) error {
	if item.ReasonOf(err) != "BAD_DIR" {
		return err
	}
	e := item.Errorf(item.KindOf(err), "BAD_DIR", "%v; podctl update %s changes the pod's directories", err, w.name)
	e.Cause = err
	return e
}

// ownTools are the pod's own tools for s. They are made in the pod's goroutine.
func (w *Workspace) ownTools(s *Settings, d *directory) (toolset, error) {
	network := w.network()
	if d.settings == s && d.network == network {
		return d.own, nil
	}
	own, err := w.tools(s, d)
	if err != nil {
		return own, err
	}
	if own.alone, err = own.with(nil); err != nil {
		return own, err
	}
	d.own, d.settings, d.network = own, s, network
	return own, nil
}

// tools makes the pod's own tools.
func (w *Workspace) tools(s *Settings, d *directory) (toolset, error) {
	movable := w.all.Movable != nil && w.all.Movable(d.spec)
	place := w.all.place(w.id, d.spool)
	place.FS, place.Network, place.Movable, place.Shows, place.Limits = d.fs, w.network, movable, w.all.borrowed(d.spec), s.ToolOutput
	c := builtin.Config{
		FS: d.fs, Spool: d.spool, Commands: shell.New(w.all.Shell, place).Tools(), Logger: w.all.Logger,
		Limits: s.ToolOutput, Search: s.Search, Tree: s.Tree, ListDir: s.ListDir, Glob: s.Glob,
		WebFetch: builtin.WebFetch{Opens: w.opens},
	}
	if movable {
		c.MayChange = w.all.Shell.Lease.Check
	}
	tools, err := builtin.New(c)
	if err != nil {
		return toolset{}, err
	}
	tools = append(tools, w.all.Tools...)
	if w.all.AskUser != nil && !w.asksNobody(s, d) {
		tools = append(tools, w.all.AskUser)
	}
	if w.all.Letters != nil && letters.Offered(d.spec, s.Rules) {
		tools = append(tools, w.all.Letters(w.id))
	}
	if w.all.History != nil {
		tools = append(tools, w.all.History(w.id))
	}
	for name, make := range w.all.Named {
		if isNamed(name, d.spec, s.Rules) {
			tools = append(tools, make(w.id))
		}
	}
	own := toolset{names: d.spec.Tools, tools: chosen(d.spec.Tools, tools), prefix: w.all.ForeignPrefix, log: w.all.Logger}
	if movable {
		own.leased = func(t tool.Tool) tool.Tool { return shell.Leased(t, w.all.Shell.Lease) }
	}
	if w.all.SubPods != nil && d.spec.SubPods > 0 && d.depth < pod.MaxDepth {
		own.spawn = w.all.SubPods(item.Pod{ID: w.id, Name: w.name, Spec: d.spec}, d.depth, d.fs)
	}
	return own, nil
}

// isNamed says whether a pod's spec or a rule names a tool, and does not deny it.
func isNamed(name string, spec item.PodSpec, rules []item.Rule) bool {
	names := func(r item.Rule) bool { return r.Tool == name && r.Decision != "deny" }
	return slices.Contains(spec.Tools, name) || slices.ContainsFunc(spec.Rules, names) || slices.ContainsFunc(rules, names)
}

// asksNobody says that the pod's mode lets nothing ask a person.
func (w *Workspace) asksNobody(s *Settings, d *directory) bool {
	return cmp.Or(d.spec.Ask, s.Ask) == policy.Never
}

// close needs no file system: only directories are open.
func (d *directory) close() { _ = d.fs.Close() }
