package attach

import "os"

// painter is the terminal that frames are written to. It counts: of frames that follow each
// other fast, only the last is painted.
type painter struct {
	*os.File
	fd  uintptr
	app *app
}

// Fd is a number, because bubbletea asks for it in a goroutine for which it does not wait, so perhaps while the
// terminal is closed.
func (p painter) Fd() uintptr { return p.fd }

func (p painter) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	p.app.painted.Add(1)
	return n, err
}
