package spool

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/tool/record"
)

// Job is the files of a command that may outlive podd: its output, and a record by which
// podd finds the command again. Settle or Close must follow.
type Job struct {
	// Output is the command's, open for reading and for writing at its end.
	Output *File
	Record *record.Record
}

// recordExt ends the name of a record, whose stem is that of the output, and buriedExt that of one that
// was buried.
const (
	recordExt = ".job"
	buriedExt = ".ended"
)

// jobName is the stem of the files of a call. The call's id comes from an endpoint and
// may contain any characters.
func jobName(tool, id string) string {
	if !plainName().MatchString(tool) {
		tool = "tool"
	}
	sum := sha256.Sum256([]byte(id))
	return tool + "-" + base32.StdEncoding.EncodeToString(sum[:])[:12]
}

// JobOutput is the name, in a folder, of the file with the output of a call's command.
func JobOutput(tool, id string) string { return jobName(tool, id) + outputExt }

// CreateJob makes the files for a call of a tool, the record with a first note; reusing
// an id is an error. Until they are settled, nothing else of the spool removes or counts
// them.
func (f *Folder) CreateJob(tool, id string, note any) (*Job, error) {
	name := jobName(tool, id)
	noted, err := record.Create(f.recordPath(name), note)
	if err != nil {
		return nil, err
	}
	output, err := f.create(name + outputExt)
	if err != nil {
		_ = noted.Remove()
		return nil, err
	}
	return &Job{Output: output, Record: noted}, nil
}

// OpenJob opens the files of a call that were not settled. The error is fs.ErrNotExist if
// they do not exist.
func (f *Folder) OpenJob(tool, id string) (*Job, error) { return f.openJob(jobName(tool, id)) }

func (f *Folder) openJob(name string) (*Job, error) {
	file, err := os.OpenFile(f.recordPath(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile(filepath.Join(f.dir, name+outputExt), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &Job{Output: &File{File: output, spool: f.spool}, Record: record.Of(file)}, nil
}

// OpenJobs opens the files of all calls of a tool that were not settled. It leaves out those
// that it cannot open.
func (f *Folder) OpenJobs(tool string) ([]*Job, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, e := range entries {
		output, ok := outputOf(e.Name())
		name := strings.TrimSuffix(output, outputExt)
		if !ok || !strings.HasPrefix(name, tool+"-") {
			continue
		}
		if j, err := f.openJob(name); err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

func (f *Folder) recordPath(name string) string {
	return filepath.Join(f.dir, "."+name+recordExt)
}

func (f *Folder) buriedPath(name string) string {
	return filepath.Join(f.dir, "."+name+buriedExt)
}

// Records are the paths of the records in the folders of a spool, which need not be open.
func Records(spoolDir string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(spoolDir), "*/.*"+recordExt)
	for i, name := range names {
		names[i] = filepath.Join(spoolDir, name)
	}
	return names, err
}

// outputOf is the name of a record's output.
func outputOf(record string) (output string, ok bool) {
	name, ok := strings.CutSuffix(record, recordExt)
	if !ok || !strings.HasPrefix(name, ".") {
		return "", false
	}
	return name[1:] + outputExt, true
}

// Settle ends the job: it removes the record, and keeps or removes the output.
func (j *Job) Settle(keep bool) {
	j.settleOutput(keep)
	j.removeRecord()
}

// Bury is Settle, and keeps the record as long as an output, for [Folder.Notes].
func (j *Job) Bury(keep bool) {
	j.settleOutput(keep)
	path := j.Record.File().Name()
	buried := strings.TrimSuffix(path, recordExt) + buriedExt
	info, err := os.Stat(path)
	if err == nil {
		err = os.Rename(path, buried)
	}
	if err != nil {
		j.removeRecord()
		return
	}
	j.Record.Close()
	j.Output.spool.add(buried, info.Size())
}

func (j *Job) settleOutput(keep bool) {
	if keep {
		j.Output.Keep()
	} else {
		j.Output.Discard()
	}
}

// Notes decodes into v what the record of a call's command says, also once it is buried.
func (f *Folder) Notes(tool, id string, v any) error {
	name := jobName(tool, id)
	file, err := os.Open(f.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(f.buriedPath(name))
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return record.Of(file).Notes(v)
}

// Close leaves the files for OpenJob.
func (j *Job) Close() {
	_ = j.Output.Close()
	j.Record.Close()
}

func (j *Job) removeRecord() {
	// The next Open finds what could not be removed.
	if err := j.Record.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.Output.spool.Logger.Warn("spool file could not be removed", "error", err)
	}
}
