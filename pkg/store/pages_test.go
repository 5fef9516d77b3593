package store_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// BenchmarkLayouts counts what a step, which commits its call and then its result, would write
// with other layouts of the database: 200 pods, one of which has a long turn. The layout stays
// as it is: 73 KiB a step, against 37 to 65, so that results are on disk before the next request,
// a list reads no page a pod, and a damaged page harms one pod.
func BenchmarkLayouts(b *testing.B) {
	two, one := [][]int{{170, 130, 50}, {150}}, [][]int{{150, 170, 130, 50}}
	for _, l := range []layout{
		{name: "as it is", commits: two},
		{name: "no freelist", commits: two, options: bbolt.Options{NoFreelistSync: true}},
		{name: "head in the log", commits: two, headInLog: true},
		{name: "one tree", commits: two, headInLog: true, oneTree: true},
		{name: "one tree, no freelist", commits: two, options: bbolt.Options{NoFreelistSync: true}, headInLog: true, oneTree: true},
		{name: "one commit", commits: one},
		{name: "eight pods", commits: two, together: 7},
	} {
		b.Run(l.name, l.measure)
	}
}

// layout is an arrangement of logs and heads.
type layout struct {
	name    string
	options bbolt.Options
	// commits are the sizes of the records of a step, by transaction.
	commits [][]int
	// headInLog keeps the head of a pod behind its newest record; oneTree keeps all logs in one.
	headInLog, oneTree bool
	// together is how many other pods share a transaction.
	together int
	seq      uint64
}

func (l layout) measure(b *testing.B) {
	const pods = 200
	l.options.NoSync = true
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "db"), 0o600, &l.options)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	id := func(pod int) string { return fmt.Sprintf("pod_%016d", pod%pods) }
	must(db.Update(func(tx *bbolt.Tx) error {
		logs, err := tx.CreateBucket([]byte("logs"))
		must(err)
		_, err = tx.CreateBucket([]byte("heads"))
		must(err)
		for pod := range pods {
			_, err := logs.CreateBucket([]byte(id(pod)))
			must(err)
		}
		return nil
	}))
	step := func(first, last int) {
		for _, records := range l.commits {
			must(db.Update(func(tx *bbolt.Tx) error {
				for pod := first; pod <= last; pod++ {
					must(l.write(tx, id(pod), records))
				}
				return nil
			}))
		}
	}
	for pod := range pods {
		for range 10 {
			step(pod, pod)
		}
	}
	const long = 17
	before := wrote(b)
	for b.Loop() {
		step(long, long+l.together)
	}
	b.ReportMetric(float64(wrote(b)-before)/1024/float64(b.N)/float64(1+l.together), "KiB/step")
}

func (l *layout) write(tx *bbolt.Tx, pod string, records []int) error {
	logs, prefix := tx.Bucket([]byte("logs")), pod
	if !l.oneTree {
		logs, prefix = logs.Bucket([]byte(pod)), ""
		logs.FillPercent = 0.95
	}
	for _, size := range records {
		l.seq++
		if err := logs.Put(binary.BigEndian.AppendUint64([]byte(prefix), l.seq), make([]byte, size)); err != nil {
			return err
		}
	}
	head := make([]byte, 190)
	if l.headInLog {
		return logs.Put(append([]byte(prefix), 0xff), head)
	}
	return tx.Bucket([]byte("heads")).Put([]byte(pod), head)
}

// wrote is how many bytes this process has written to files.
func wrote(b *testing.B) (n int64) {
	b.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip("the kernel does not count writes: ", err)
	}
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		b.Fatal(err)
	}
	return n
}
