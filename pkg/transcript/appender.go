package transcript

// Appender follows the messages of a transcript for a renderer that can only append, such
// as a pipe. The zero value is ready to use.
type Appender struct {
	// printed is the printed length of each unfinished block; last is the block that was
	// printed last.
	printed map[string]int
	last    string
}

// Open says whether part of an unfinished block is printed.
func (a *Appender) Open() bool { return len(a.printed) > 0 }

// Drop says whether one of the dropped blocks was printed: then its text was cut off.
func (a *Appender) Drop(ids []string) (cut bool) {
	for _, id := range ids {
		if _, ok := a.printed[id]; ok {
			cut = true
			delete(a.printed, id)
		}
	}
	return cut
}

// Put returns the text of a block to print. begins says that it is the block's beginning;
// cut that the block was printed with another text, or that other text was printed after
// it.
func (a *Appender) Put(p Put) (text string, begins, cut bool) {
	b := p.Block
	if b.State == Lost {
		return "", false, false
	}
	n, was := a.printed[b.ID]
	whole := was && p.Kept >= n && (a.last == b.ID || len(b.Text) == n)
	switch {
	case whole:
		text = b.Text[n:]
	default:
		text, begins, cut = b.Text, true, was
		a.last = b.ID
	}
	if a.printed == nil {
		a.printed = make(map[string]int)
	}
	a.printed[b.ID] = len(b.Text)
	if b.State == Done {
		delete(a.printed, b.ID)
	}
	return text, begins, cut
}
