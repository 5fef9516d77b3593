package scopefs

import (
	"crypto/sha256"
	"sync"
)

// maxSeen bounds the memory of read tracking.
const maxSeen = 8192

// reads records the files that were read, and their digests.
type reads struct {
	scope   *scope
	mu      sync.Mutex
	digests map[string][32]byte
}

// Digest is the SHA-256 of a file's bytes.
func Digest(data []byte) [32]byte { return sha256.Sum256(data) }

// NoteRead records the digest of the whole file as it was last read or written, so that
// an edit can detect a later change. Paths that lead to one file through links share the
// record. Beyond 8192 files it forgets some; they have to be read again before an edit.
func (r *reads) NoteRead(path string, digest [32]byte) {
	key := r.scope.identity(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.digests[key]; !known && len(r.digests) >= maxSeen {
		for other := range r.digests {
			delete(r.digests, other)
			break
		}
	}
	r.digests[key] = digest
}

// LastRead is the last digest that NoteRead got for the path.
func (r *reads) LastRead(path string) (digest [32]byte, ok bool) {
	key := r.scope.identity(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	digest, ok = r.digests[key]
	return digest, ok
}

// forget undoes NoteRead for a path whose file is gone.
func (r *reads) forget(path string) {
	key := r.scope.identity(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.digests, key)
}

// identity is one name for all paths that lead to a file.
func (s *scope) identity(path string) string {
	p, err := s.locate(path)
	if err != nil {
		return path
	}
	if followed, err := s.follow(p, true); err == nil {
		p = followed
	}
	return p.abs()
}
