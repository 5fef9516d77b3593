//go:build !linux

package builtin

// reopenWatch has nothing to notice: elsewhere /dev/stderr is the open file itself.
type reopenWatch struct{}

func watchReopens(string) reopenWatch { return reopenWatch{} }
func (reopenWatch) reopened() bool    { return false }
func (reopenWatch) close()            {}
