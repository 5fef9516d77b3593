package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Job is the files of a command that may outlive podd: its output, and beside that a
// record that says what is needed to find the command again and, in the end, its
// status. Settle or Close must follow.
//
// A record begins with a slot for the status, filled when it is made, so that the
// status can be written when the disk is full; behind it stand notes, one JSON object
// a line.
type Job struct {
	// Output is the command's, open for reading and for writing at its end.
	Output *File
	record *os.File
}

// recordExt ends the name of a record, whose stem is that of the output.
const recordExt = ".job"

// slotBytes is the length of the slot. Whoever writes the status writes as many bytes
// at once: StatusFormat, for printf.
const slotBytes = 16

// StatusFormat is how printf(1) writes a status, one word of at most 13 characters,
// into a record opened by StatusFile. The full stop tells a whole one from a part.
const StatusFormat = `%-15s\n`

// statusEnd ends a status.
const statusEnd = "."

// jobName is the stem of the files of a call. Its id comes from an endpoint and may
// hold anything.
func jobName(tool, id string) string {
	if !plainName.MatchString(tool) {
		tool = "tool"
	}
	sum := sha256.Sum256([]byte(id))
	return tool + "-" + base32.StdEncoding.EncodeToString(sum[:])[:12]
}

// CreateJob makes the files for a call of a tool; an id that is used again is an
// error. Nothing else of the spool removes them, or counts them, until they are
// settled.
func (f *Folder) CreateJob(tool, id string) (*Job, error) {
	name := jobName(tool, id)
	record, err := os.OpenFile(f.recordPath(name), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Job{record: record}
	slot := strings.Repeat(" ", slotBytes-1) + "\n"
	if _, err := record.WriteString(slot); err != nil {
		j.removeRecord()
		return nil, err
	}
	if j.Output, err = f.create(name + outputExt); err != nil {
		j.removeRecord()
		return nil, err
	}
	return j, nil
}

// OpenJob opens the files of a call that were not settled. The error is
// fs.ErrNotExist when there are none.
func (f *Folder) OpenJob(tool, id string) (*Job, error) {
	name := jobName(tool, id)
	record, err := os.OpenFile(f.recordPath(name), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile(filepath.Join(f.dir, name+outputExt), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		_ = record.Close()
		return nil, err
	}
	return &Job{Output: &File{File: output, spool: f.spool}, record: record}, nil
}

func (f *Folder) recordPath(name string) string {
	return filepath.Join(f.dir, "."+name+recordExt)
}

// outputOf is the name of the output that belongs to a record.
func outputOf(record string) (output string, ok bool) {
	name, ok := strings.CutSuffix(record, recordExt)
	if !ok || !strings.HasPrefix(name, ".") {
		return "", false
	}
	return name[1:] + outputExt, true
}

// Note adds to the record. It is there when podd is killed, and may be gone after a
// power cut.
func (j *Job) Note(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = j.record.Write(append(line, '\n'))
	return err
}

// Notes decodes all notes into v, the later ones over the earlier ones. A last line
// that was not written to its end is left out.
func (j *Job) Notes(v any) error {
	data, err := os.ReadFile(j.record.Name())
	if err != nil {
		return err
	}
	if len(data) < slotBytes {
		return fmt.Errorf("the record %s is cut off", j.record.Name())
	}
	for line := range bytes.Lines(data[slotBytes:]) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("the record %s is damaged: %w", j.record.Name(), err)
		}
	}
	return nil
}

// StatusFile opens the record's slot for writing; the caller closes it.
func (j *Job) StatusFile() (*os.File, error) {
	return os.OpenFile(j.record.Name(), os.O_WRONLY, 0)
}

// Status is what was written into the slot, without the full stop; empty when nothing
// was, or only a part.
func (j *Job) Status() string {
	slot := make([]byte, slotBytes)
	if _, err := j.record.ReadAt(slot, 0); err != nil {
		return ""
	}
	status, whole := strings.CutSuffix(strings.TrimRight(string(slot), " \n"), statusEnd)
	if !whole {
		return ""
	}
	return status
}

// Settle ends the job: the record goes, and the output is kept or goes too.
func (j *Job) Settle(keep bool) {
	if keep {
		j.Output.Keep()
	} else {
		j.Output.Discard()
	}
	j.removeRecord()
}

// Close leaves the files for OpenJob.
func (j *Job) Close() {
	_ = j.Output.Close()
	_ = j.record.Close()
}

func (j *Job) removeRecord() {
	_ = j.record.Close()
	// What cannot be removed is found by the next Open.
	if err := os.Remove(j.record.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) && j.Output != nil {
		j.Output.spool.Logger.Warn("spool file could not be removed", "error", err)
	}
}
