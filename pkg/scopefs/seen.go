package scopefs

import (
	"crypto/sha256"
	"sync"
)

// maxSeen bounds the memory of read tracking.
const maxSeen = 8192

// seen is what is remembered of the files that were read.
type seen struct {
	mu      sync.Mutex
	digests map[string][32]byte
}

// Digest is the SHA-256 of a file's bytes.
func Digest(data []byte) [32]byte { return sha256.Sum256(data) }

// NoteRead remembers the digest of the whole file as it was last read or written,
// so that an edit can tell that the file changed since. Paths that lead to one file
// through links share what is remembered. Of more than 8192 files some are
// forgotten; they have to be read again before an edit.
func (f *FS) NoteRead(path string, digest [32]byte) {
	key := f.identity(path)
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	if _, known := f.seen.digests[key]; !known && len(f.seen.digests) >= maxSeen {
		for other := range f.seen.digests {
			delete(f.seen.digests, other)
			break
		}
	}
	f.seen.digests[key] = digest
}

// LastRead is what NoteRead last got for the path.
func (f *FS) LastRead(path string) (digest [32]byte, ok bool) {
	key := f.identity(path)
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	digest, ok = f.seen.digests[key]
	return digest, ok
}

// forget undoes NoteRead for a path whose file is gone.
func (f *FS) forget(path string) {
	key := f.identity(path)
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	delete(f.seen.digests, key)
}

// identity is one name for all paths that lead to a file.
func (f *FS) identity(path string) string {
	p, err := f.locate(path)
	if err != nil {
		return path
	}
	if followed, err := f.follow(p, true); err == nil {
		p = followed
	}
	return p.abs()
}
