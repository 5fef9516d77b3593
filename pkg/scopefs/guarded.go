package scopefs

// Against says, as the end of a sentence that the path begins, why it must not be read;
// empty when it may. leads are the other paths that it is once links are followed.
type Against func(named string, leads []string) string

// Guarded is f for what podd reads by itself, which no call is decided on for: files and
// directories that against speaks against are neither read nor listed nor completed, and
// the error is of kind [Refused]. What is read is what against was asked about. A Guarded
// is not closed.
func (f *FS) Guarded(against Against) *FS {
	to := *f
	to.against = against
	return &to
}

// allowed is f for reading a path that nothing speaks against, held to where it leads.
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
