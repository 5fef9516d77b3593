package builtin

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// The bounds of counting what is too much to show.
const (
	maxCountedMatches = 100_000
	// maxMapRows bounds the files of a map of matches.
	maxMapRows = 200
	// mapNote is the room for the lines of a map that are not rows, without a path.
	mapNote = 200
	// maxMapText bounds a file's first match in a map, in runes.
	maxMapText = 100
	// maxResultBytes bounds the whole result on disk.
	maxResultBytes = 256 << 20
)

// maxCountingTime bounds counting too.
var maxCountingTime = 20 * time.Second

// manyHits counts matches file by file. Once there are too many to show, it writes each
// to a file of the spool, and shows a map of the files.
type manyHits struct {
	folder *spool.Folder
	limit  tool.Limit
	// begun says that there are too many. Earlier matches wait in early.
	begun bool
	early strings.Builder
	// stopped says that counting ended before the search did.
	stopped bool
	until   time.Time
	// most bounds the counted matches.
	most int64

	matches int64
	files   []fileMatches
	// bytes and lines are the size of the whole result.
	bytes int64

	file *spool.File
	out  *bufio.Writer
	// lost is why the whole result is not kept; otherwise nil.
	lost error
}

// fileMatches are the matches of one file, and the first of them as in the whole result.
type fileMatches struct {
	matches int64
	first   string
}

func newManyHits(folder *spool.Folder, limit tool.Limit) *manyHits {
	return &manyHits{folder: folder, limit: limit, most: maxCountedMatches}
}

// begin starts counting: there are too many matches to show.
func (m *manyHits) begin() {
	m.begun, m.until = true, time.Now().Add(maxCountingTime)
	if m.file, m.lost = m.folder.Create("search"); m.lost != nil {
		return
	}
	m.out = bufio.NewWriterSize(m.file, 64<<10)
	m.write(m.early.String())
	m.early.Reset()
}

// late says whether counting has taken long enough, and then ends it.
func (m *manyHits) late() bool {
	if m.begun && !time.Now().Before(m.until) {
		m.stopped = true
	}
	return m.stopped
}

// add counts a match; first says that it is the first of its file.
func (m *manyHits) add(name string, line int, text string, first bool) {
	if m.matches == m.most {
		m.stopped = true
		return
	}
	// read_file does not read a file with a NUL as text.
	row := scopefs.Display(name) + ":" + strconv.Itoa(line) + ":" + strings.ReplaceAll(text, "\x00", "?")
	m.matches++
	m.bytes += int64(len(row)) + 1
	if first {
		m.files = append(m.files, fileMatches{first: tool.Shorten(row, len([]rune(name))+maxMapText)})
	}
	m.files[len(m.files)-1].matches++
	if !m.begun {
		m.early.WriteString(row + "\n")
		return
	}
	m.write(row + "\n")
}

// write adds to the whole result, as far as the spool has room for it.
func (m *manyHits) write(text string) {
	if m.lost != nil {
		return
	}
	if most := min(m.folder.Quota(), maxResultBytes); m.bytes > most {
		m.lose(fmt.Errorf("it is larger than %d bytes", most))
		return
	}
	if _, err := m.out.WriteString(text); err != nil {
		m.lose(err)
	}
}

func (m *manyHits) lose(err error) {
	m.lost = err
	m.file.Discard()
}

// discard drops the counted matches; keep keeps them. Call one of them afterwards.
func (m *manyHits) discard() {
	if m.begun && m.lost == nil {
		m.file.Discard()
	}
}

// keep is the path of the whole result; empty without one.
func (m *manyHits) keep() string {
	if m.lost == nil {
		if err := m.out.Flush(); err != nil {
			m.lose(err)
		}
	}
	if m.lost != nil {
		return ""
	}
	m.file.Keep()
	return m.file.Name()
}

// summary counts all matches.
func (m *manyHits) summary() string {
	least := ""
	if m.stopped {
		least = "at least "
	}
	return fmt.Sprintf("%s%s in %s", least, tool.Grouped(m.matches, "match"), tool.Grouped(int64(len(m.files)), "file"))
}

// content says where all matches are, and which files have the most.
func (m *manyHits) content() (text string, cut *item.Cut) {
	cut = &item.Cut{TotalBytes: m.bytes, TotalLines: m.matches, SpoolPath: m.keep()}
	var b strings.Builder
	if cut.SpoolPath == "" {
		b.WriteString("The matches were not kept: narrow the search to see them.\n")
	} else {
		fmt.Fprintf(&b, "Every match is in %s as path:line:text (read_file or search it).\n", cut.SpoolPath)
	}
	b.WriteString("Number of matches per file, with the first match:\n")
	slices.SortStableFunc(m.files, func(a, b fileMatches) int { return cmp.Compare(b.matches, a.matches) })
	room, rest := m.limit.MaxBytes-b.Len()-mapNote, m.matches
	for i, f := range m.files {
		row := fmt.Sprintf("%d %s\n", f.matches, f.first)
		if i == min(maxMapRows, m.limit.MaxLines-3) || room < len(row) {
			fmt.Fprintf(&b, "and %s with %s\n", tool.Grouped(int64(len(m.files)-i), "more file"), tool.Grouped(rest, "match"))
			break
		}
		b.WriteString(row)
		room, rest = room-len(row), rest-f.matches
		cut.KeptBytes += int64(len(f.first))
		cut.KeptLines++
	}
	return b.String(), cut
}
