package main

import (
	"encoding/binary"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// store is a bbolt file: a bucket of pods, by name, and a bucket of entries, by
// pod and sequence.
type store struct {
	db     *bbolt.DB
	queue  chan *commit
	writer sync.WaitGroup
}

var podsBucket, entriesBucket = []byte("pods"), []byte("entries")

// commit is what one caller writes, in one piece.
type commit struct {
	bucket     []byte
	keys, vals [][]byte
	done       chan error
}

func openStore(path string) (*store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(podsBucket)
		if err == nil {
			_, err = tx.CreateBucketIfNotExists(entriesBucket)
		}
		return err
	})
	s := &store{db: db, queue: make(chan *commit, 128)}
	s.writer.Go(s.write)
	return s, err
}

func (s *store) close() {
	close(s.queue)
	s.writer.Wait()
	_ = s.db.Close()
}

// write commits everything that waits as one synced transaction, repeatedly.
func (s *store) write() {
	for first := range s.queue {
		group := s.waiting(first)
		err := s.db.Update(func(tx *bbolt.Tx) error {
			for _, c := range group {
				bucket := tx.Bucket(c.bucket)
				for i, key := range c.keys {
					if err := bucket.Put(key, c.vals[i]); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for _, c := range group {
			c.done <- err
		}
	}
}

// waiting returns a commit and those that wait behind it.
func (s *store) waiting(first *commit) []*commit {
	group := []*commit{first}
	for {
		select {
		case c, ok := <-s.queue:
			if !ok {
				return group
			}
			group = append(group, c)
		default:
			return group
		}
	}
}

// put returns once its records are on disk.
func (s *store) put(bucket []byte, keys, vals [][]byte) error {
	c := &commit{bucket: bucket, keys: keys, vals: vals, done: make(chan error, 1)}
	s.queue <- c
	return <-c.done
}

func entryKey(pod string, seq int64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(pod), 0), uint64(seq))
}

// entries returns the records of a pod above a sequence, at most 256.
func (s *store) entries(pod string, after int64) (found [][]byte, err error) {
	prefix := len(pod) + 1
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(entriesBucket).Cursor()
		key := entryKey(pod, after+1)
		for k, v := c.Seek(key); len(k) == len(key) && string(k[:prefix]) == string(key[:prefix]) && len(found) < 256; k, v = c.Next() {
			found = append(found, append([]byte(nil), v...))
		}
		return nil
	})
	return found, err
}
