package paths

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadRecord decodes a record that [WriteRecord] wrote. Without a file v stays as it is. Other users
// may not read the file: they could have changed it.
func ReadRecord(path string, v any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		return errors.Join(err, fmt.Errorf("%s is open to other users, who may have changed it: look at it, then run chmod 600 %[1]s", path))
	}
	return json.Unmarshal(text, v)
}

// WriteRecord atomically replaces a record, as JSON in a private file: see [WritePrivateFile].
func WriteRecord(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WritePrivateFile(path, string(text)+"\n")
}
