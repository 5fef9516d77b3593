// Package record has the files that say what happened to commands. podd makes one for each
// command; the process that starts the command writes to it.
//
// It imports nothing of podd. A record belongs to one goroutine at a time.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
)

// Record is a file that says what happened to a command. It begins with a slot for the
// status; then come notes, one JSON object per line. It has its full length from the
// start, so that writing to it works when the disk is full.
//
// The process responsible for the command has the record open, and with it a lock on its
// file: a record without a lock never changes again.
type Record struct {
	file *os.File
}

// slotBytes is the length of the slot, recordBytes that of the whole record, unless its
// notes take more.
const (
	slotBytes   = 16
	recordBytes = 512
)

// statusEnd tells a complete status from a part of one.
const statusEnd = "."

// Create makes a record, locked by this process, with a first note.
func Create(path string, note any) (*Record, error) {
	line, err := noteLine(note)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	r := &Record{file: file}
	text := append(slot(""), line...)
	padding := bytes.Repeat([]byte(" "), max(0, recordBytes-len(text)))
	if err = flock(file, syscall.LOCK_EX); err == nil {
		_, err = file.Write(append(text, padding...))
	}
	if err == nil {
		// The next note overwrites the padding, whichever process writes it.
		_, err = file.Seek(int64(len(text)), io.SeekStart)
	}
	if err != nil {
		_ = r.Remove()
		return nil, err
	}
	return r, nil
}

// Of is the record in an open file, such as one received from another process, which had
// locked it.
func Of(file *os.File) *Record { return &Record{file: file} }

// File is what another process needs to keep the record locked.
func (r *Record) File() *os.File { return r.file }

// Close releases the lock, unless another process has the file too.
func (r *Record) Close() { _ = r.file.Close() }

// Note adds to the record. A note survives when podd is killed, and may be lost in a
// power cut. Only the process that has the record locked may add one.
func (r *Record) Note(v any) error {
	line, err := noteLine(v)
	if err != nil {
		return err
	}
	_, err = r.file.Write(line)
	return err
}

// SetStatus fills the slot with a word of at most 13 characters.
func (r *Record) SetStatus(status string) error {
	_, err := r.file.WriteAt(slot(status+statusEnd), 0)
	return err
}

// Held says whether another process has the record locked. A record that is not locked is
// complete: what is read of it afterwards is final.
func (r *Record) Held() bool {
	if flock(r.file, syscall.LOCK_SH) != nil {
		return true
	}
	_ = flock(r.file, syscall.LOCK_UN)
	return false
}

// Notes decodes all notes into v, later ones over earlier ones. It ignores an incomplete
// last one.
func (r *Record) Notes(v any) error {
	// By its name another file may be there by now.
	data, err := io.ReadAll(io.NewSectionReader(r.file, 0, math.MaxInt64))
	if err != nil {
		return err
	}
	if len(data) < slotBytes {
		return fmt.Errorf("the record %s is cut off", r.file.Name())
	}
	for line := range bytes.Lines(data[slotBytes:]) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("the record %s is damaged: %w", r.file.Name(), err)
		}
	}
	return nil
}

// Status is the text in the slot; empty when it has none or only a part.
func (r *Record) Status() string {
	text := make([]byte, slotBytes)
	if _, err := r.file.ReadAt(text, 0); err != nil {
		return ""
	}
	status, whole := strings.CutSuffix(strings.TrimRight(string(text), " \n"), statusEnd)
	if !whole {
		return ""
	}
	return status
}

// Remove closes the record and removes its file.
func (r *Record) Remove() error {
	r.Close()
	return os.Remove(r.file.Name())
}

func slot(text string) []byte { return fmt.Appendf(nil, "%-*s\n", slotBytes-1, text) }

func noteLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	return append(line, '\n'), err
}

// flock locks a file by flock(2), or fails if it would have to wait. The lock belongs to
// the open file: a process that receives the file has the lock too.
func flock(file *os.File, how int) error {
	control, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := control.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), how|syscall.LOCK_NB) }); err != nil {
		return err
	}
	return failed
}
