package scopefs

// Against says, as the end of a sentence that begins with the path, why it must not be
// read; empty when it may. leads are the other paths that it becomes when links are
// followed.
type Against func(named string, leads []string) string

// Guarded is f for what podd reads itself, without a decision on a call: it neither reads
// nor lists nor completes files and directories that against rejects, and the error is of
// kind [Refused]. It reads exactly the file that against was asked about. Do not close a
// Guarded.
func (f *FS) Guarded(against Against) *FS {
	to := *f
	to.against = against
	return &to
}

// allowed is f for reading a path that against accepts, limited to its target.
func (f *FS) allowed(path string) (*FS, error) {
	if f.against == nil {
		return f, nil
	}
	t := f.Target(path)
	if why := f.against(t.named, t.leads); why != "" {
		return nil, sayf(Refused, path, nil, "%s", why)
	}
	to := f.Bound([]Target{t})
	to.against = nil
	return to, nil
}
