package spool

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Job is the files of a command that may outlive podd: its output, and beside that a
// record by which the command is found again. Settle or Close must follow.
type Job struct {
	// Output is the command's, open for reading and for writing at its end.
	Output *File
	Record *Record
}

// recordExt ends the name of a record, whose stem is that of the output.
const recordExt = ".job"

// jobName is the stem of the files of a call. Its id comes from an endpoint and may
// hold anything.
func jobName(tool, id string) string {
	if !plainName.MatchString(tool) {
		tool = "tool"
	}
	sum := sha256.Sum256([]byte(id))
	return tool + "-" + base32.StdEncoding.EncodeToString(sum[:])[:12]
}

// CreateJob makes the files for a call of a tool, the record with a first note; an id
// that is used again is an error. Nothing else of the spool removes them, or counts them,
// until they are settled.
func (f *Folder) CreateJob(tool, id string, note any) (*Job, error) {
	name := jobName(tool, id)
	record, err := createRecord(f.recordPath(name), note)
	if err != nil {
		return nil, err
	}
	output, err := f.create(name + outputExt)
	if err != nil {
		record.remove()
		return nil, err
	}
	return &Job{Output: output, Record: record}, nil
}

// OpenJob opens the files of a call that were not settled. The error is
// fs.ErrNotExist when there are none.
func (f *Folder) OpenJob(tool, id string) (*Job, error) {
	name := jobName(tool, id)
	record, err := os.OpenFile(f.recordPath(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile(filepath.Join(f.dir, name+outputExt), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		_ = record.Close()
		return nil, err
	}
	return &Job{Output: &File{File: output, spool: f.spool}, Record: &Record{file: record}}, nil
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
	j.Record.Close()
}

func (j *Job) removeRecord() {
	j.Record.Close()
	// What cannot be removed is found by the next Open.
	if err := os.Remove(j.Record.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.Output.spool.Logger.Warn("spool file could not be removed", "error", err)
	}
}
