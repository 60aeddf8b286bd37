#include "troupe/runtime/state/file_reader.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/state/element_queue.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace troupe {
namespace {

// What one errand reads: enough that handing it over costs little beside it.
constexpr size_t part_records = 64, part_bytes = size_t{1} << 20;
// How many records may be left when the next part is read.
constexpr size_t low_records = part_records / 2;

// The numbers of a place, "BYTE RECORD".
std::pair<std::string_view, uint64_t> place_in(std::string_view place) {
  auto gap = place.find(' ');
  uint64_t number = 0;
  if (gap != std::string_view::npos)
    std::from_chars(place.data() + gap + 1, place.data() + place.size(), number);
  return {place.substr(0, gap), number};
}

std::string key_of(record_format format, const std::string& file, std::string_view place) {
  auto [byte, number] = place_in(place);
  switch (format) {
    case record_format::line: return concat(file, ':', number + 1);
    case record_format::fixed: return concat(file, ':', number);
    case record_format::tfrecord: return concat(file, ':', byte);
    case record_format::none:
    case record_format::whole: break;
  }
  return file;
}

// Protocol buffers, as far as ReaderBaseState needs them.
enum field : uint32_t {
  started = 1,
  finished = 2,
  produced = 3,
  current = 4,
  place = 15,
  next = 16,
  again = 17
};

void put_varint(uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7)
    to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void put_number(field which, int64_t value, std::string& to) {
  if (value == 0)
    return;
  put_varint(which << 3, to);
  put_varint(static_cast<uint64_t>(value), to);
}

void put_text(field which, std::string_view value, std::string& to) {
  if (value.empty())
    return;
  put_varint(which << 3 | 2, to);
  put_varint(value.size(), to);
  to += value;
}

std::optional<uint64_t> take_varint(std::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      return value;
  }
  return {};
}

struct reader_state {
  int64_t started = 0, finished = 0, produced = 0;
  std::string file, place;
  std::deque<std::string> names;
  struct record {
    int64_t unit = 0;
    std::string key, value;
  };
  std::vector<record> again = {}; // which steps that failed had read
};

std::optional<std::string_view> take_text(std::string_view& from) {
  auto size = take_varint(from);
  if (!size || *size > from.size())
    return {};
  auto text = from.substr(0, static_cast<size_t>(*size));
  from.remove_prefix(text.size());
  return text;
}

std::optional<reader_state::record> parse_record(std::string_view from) {
  auto unit = take_varint(from);
  auto key = take_text(from), value = take_text(from);
  if (!unit || *unit > INT64_MAX || !key || !value || !from.empty())
    return {};
  return reader_state::record{static_cast<int64_t>(*unit), std::string{*key}, std::string{*value}};
}

std::optional<reader_state> parse_state(std::string_view from) {
  reader_state found;
  while (!from.empty()) {
    auto head = take_varint(from);
    if (!head)
      return {};
    auto value = take_varint(from);
    if (!value)
      return {};
    switch (*head & 7) {
      case 0: {
        auto number = static_cast<int64_t>(*value);
        if (*head >> 3 == field::started)
          found.started = number;
        else if (*head >> 3 == field::finished)
          found.finished = number;
        else if (*head >> 3 == field::produced)
          found.produced = number;
        break;
      }
      case 2: {
        if (*value > from.size())
          return {};
        auto text = from.substr(0, static_cast<size_t>(*value));
        from.remove_prefix(text.size());
        if (*head >> 3 == field::current)
          found.file = text;
        else if (*head >> 3 == field::place)
          found.place = text;
        else if (*head >> 3 == field::next)
          found.names.emplace_back(text);
        else if (*head >> 3 == field::again) {
          auto one = parse_record(text);
          if (!one)
            return {};
          found.again.push_back(*std::move(one));
        }
        break;
      }
      default: return {};
    }
  }
  constexpr auto most = std::numeric_limits<int64_t>::max() / 2; // they go on counting
  if (found.started > most || found.produced > most || found.finished < 0 || found.produced < 0 ||
      found.started < found.finished || (found.started == found.finished && !found.place.empty()))
    return {};
  for (const auto& one : found.again)
    if (one.unit > found.started)
      return {};
  return found;
}

// What is asked of the queue of names: one, which is spent.
void take_name(responder& of, question&& what, answers& done) {
  static_cast<element_queue&>(of).dequeue(what.who, {.goes_back = false}, done);
}

// A file that was cut off is no end of the data, which is what out_of_range says to those who read.
status no_end(status of) {
  return of.kind() == error_kind::out_of_range ? status{error_kind::data_loss, of.message()}
                                               : std::move(of);
}

} // namespace

// The reader's while no errand runs, the errand's meanwhile.
struct file_reader::loader {
  std::string path;
  record_layout layout;
  std::string start = {}; // empty: at the begin
  std::unique_ptr<record_reader> stream = {};

  std::vector<record> found = {};
  std::string place = {}; // behind them
  bool at_end = false;

  status run(file_access& files) {
    found.clear();
    if (!stream) {
      TROUPE_ASSIGN(auto opened, files.open(path, layout));
      if (!start.empty())
        TROUPE_TRY(opened->seek(start));
      stream = std::move(opened);
    }
    auto behind = start;
    auto outcome = guarded("reading records", [&] { return read_part(behind); });
    place = stream->position();
    if (outcome.kind() == error_kind::resource_exhausted) {
      // The record that did not fit into memory is read again.
      stream.reset();
      place = start = std::move(behind);
    }
    return outcome;
  }

  /// `behind` is where the last record begins that was tried.
  status read_part(std::string& behind) {
    std::string bytes;
    size_t all = 0;
    while (found.size() < part_records && all < part_bytes) {
      auto begins = stream->position();
      behind = begins;
      TROUPE_ASSIGN(auto there, stream->next(bytes));
      if (!there) {
        at_end = true;
        return {};
      }
      all += bytes.size();
      auto key = key_of(layout.format, path, begins);
      found.push_back({.place = std::move(begins),
                       .key = tensor::scalar(std::move(key)),
                       .value = tensor::scalar(std::move(bytes))});
      bytes.clear();
    }
    return {};
  }
};

file_reader::file_reader(std::string name, record_layout layout)
    : responder(std::move(name)), layout_(std::move(layout)) {}
file_reader::~file_reader() = default;

void file_reader::read(request_id who, reading how, answers& done) {
  if (how.count < 1) {
    done.push_back({who, invalid("reader '", name(), "' cannot give ", how.count, " records")});
    return;
  }
  waiting_.push_back({who, how});
  serve(done);
}

const file_reader::record* file_reader::next_ready() const {
  return !returned_.empty() ? &returned_.begin()->second
         : !ahead_.empty()  ? &ahead_.front()
                            : nullptr;
}

// A file is found to have ended by who reads on, as in TensorFlow; but a file that is one record
// has ended with it.
bool file_reader::take_one(pending_read& to) {
  if (!returned_.empty()) {
    to.got.push_back(std::move(returned_.begin()->second));
    returned_.erase(returned_.begin());
  } else if (!ahead_.empty()) {
    to.got.push_back(std::move(ahead_.front()));
    ahead_.pop_front();
    if (ahead_.empty() && at_end_ && layout_.format <= record_format::whole)
      end_file();
  } else {
    return false;
  }
  ++produced_;
  return true;
}

void file_reader::end_file() {
  finished_ = started_;
  forget_file();
}

void file_reader::forget_file() {
  ahead_.clear();
  loader_.reset();
  loading_ = 0;
  at_end_ = stumbled_ = false;
  broken_ = {};
  place_.clear();
}

// Says whether there is one now.
bool file_reader::begin_file() {
  if (!names_.empty()) {
    file_ = std::move(names_.front());
    names_.pop_front();
    ++started_;
    return true;
  }
  if (!asking_) {
    asking_ = next_errand_++;
    asks_for_ = waiting_.front().who;
    errands_.push_back({.number = asking_, .asks_for = asks_for_, .ask = take_name});
  }
  return false;
}

void file_reader::serve(answers& done) {
  while (!waiting_.empty()) {
    auto& first = waiting_.front();
    // What comes at once is of one file.
    const auto* next = next_ready();
    if (!first.got.empty() && (next ? next->unit != first.got.back().unit : !in_progress())) {
      answer_first(done);
      continue;
    }
    auto files_before = finished_;
    if (take_one(first)) {
      if (static_cast<int64_t>(first.got.size()) == first.how.count || finished_ != files_before)
        answer_first(done);
      continue;
    }
    if (in_progress() && at_end_) {
      end_file();
      if (!first.got.empty())
        answer_first(done);
      continue;
    }
    if (in_progress() && !broken_.ok()) {
      if (first.got.empty())
        fail_first(std::exchange(broken_, {}), done);
      else
        answer_first(done);
      continue;
    }
    if (!in_progress() && !begin_file())
      return;
    if (layout_.format == record_format::none && !loader_) {
      ahead_.push_back({.number = next_number_++,
                        .unit = started_,
                        .key = tensor::scalar(file_),
                        .value = tensor::scalar(file_)});
      at_end_ = true;
      continue;
    }
    break;
  }
  if (!in_progress() || loading_ || at_end_ || !broken_.ok() || ahead_.size() > low_records ||
      layout_.format == record_format::none)
    return;
  if (stumbled_ && waiting_.empty())
    return; // nobody would hear that it fails again
  if (!loader_)
    loader_ = std::make_shared<loader>(loader{.path = file_, .layout = layout_, .start = place_});
  loading_ = next_errand_++;
  errands_.push_back(
      {.number = loading_, .work = [of = loader_](file_access& files) { return of->run(files); }});
}

void file_reader::answer_first(answers& done) {
  auto& first = waiting_.front();
  auto given = guarded("reading records", [&]() -> result<std::vector<tensor>> {
    if (!first.how.many)
      return std::vector{first.got.front().key, first.got.front().value};
    std::vector<std::string> keys, values;
    for (const auto& one : first.got) {
      keys.push_back(*one.key.data<std::string>());
      values.push_back(*one.value.data<std::string>());
    }
    return std::vector{tensor::vector(keys), tensor::vector(values)};
  });
  if (!given)
    return fail_first(given.status(), done);
  auto read = std::move(first);
  waiting_.pop_front();
  answer to{read.who, {}, *std::move(given)};
  if (read.how.goes_back) {
    auto& kept = taken_[read.who.step];
    std::ranges::move(read.got, std::back_inserter(kept));
  }
  done.push_back(std::move(to));
}

void file_reader::fail_first(status why, answers& done) {
  done.push_back({waiting_.front().who, std::move(why)});
  give_back(std::move(waiting_.front().got));
  waiting_.pop_front();
}

void file_reader::take_errands(std::vector<errand>& to) {
  std::ranges::move(errands_, std::back_inserter(to));
  errands_.clear();
}

void file_reader::errand_ended(uint32_t number, status outcome, std::vector<tensor> values,
                               answers& done) {
  if (number == asking_) {
    asking_ = 0;
    auto for_whom = *std::exchange(asks_for_, std::nullopt);
    auto waits = !waiting_.empty() && waiting_.front().who == for_whom;
    if (outcome &&
        (values.size() != 1 || values[0].type() != dtype::string || values[0].rank() != 0))
      outcome =
          invalid("reader '", name(), "' takes file names from a queue of scalar strings, and got ",
                  values.empty() ? "nothing" : concat(values[0].type(), values[0].dims()),
                  values.size() > 1 ? " and more" : "");
    if (outcome)
      names_.push_back(*values[0].data<std::string>());
    else if (waits)
      fail_first(std::move(outcome), done);
  } else if (number == loading_) {
    loading_ = 0;
    outcome = no_end(std::move(outcome));
    auto& from = *loader_;
    for (auto& one : from.found) {
      one.number = next_number_++;
      one.unit = started_;
      ahead_.push_back(std::move(one));
    }
    from.found.clear();
    if (from.stream || !from.place.empty())
      place_ = from.place;
    at_end_ = outcome.ok() && from.at_end;
    stumbled_ = !outcome.ok();
    broken_ = std::move(outcome);
    if (!broken_.ok() && waiting_.empty() && ahead_.empty())
      broken_ = {}; // who was to hear it is gone: the next one tries again
  }
  serve(done);
}

void file_reader::give_back(std::vector<record> all) {
  produced_ -= static_cast<int64_t>(all.size());
  for (auto& one : all)
    returned_.emplace(one.number, std::move(one));
}

void file_reader::cancel(const which_requests& which, const status& why, answers& done) {
  for (auto& one : waiting_)
    if (which(one))
      give_back(std::move(one.got));
  give_up(waiting_, which, why, done);
  serve(done);
}

void file_reader::settle(step_id step, bool failed, answers& done) {
  auto all = taken_.extract(step);
  if (all.empty() || !failed)
    return;
  give_back(std::move(all.mapped()));
  serve(done);
}

void file_reader::rewind(answers& done) {
  forget_file();
  file_.clear();
  returned_.clear();
  taken_.clear();
  for (auto& one : waiting_)
    one.got.clear();
  started_ = finished_ = produced_ = 0;
  serve(done);
}

void file_reader::reset(const status& why, answers& done) {
  give_up(waiting_, which_requests::all(), why, done);
  names_.clear();
  rewind(done);
}

result<std::string> file_reader::state() const {
  std::string made;
  put_number(field::started, started_, made);
  put_number(field::finished, finished_, made);
  put_number(field::produced, produced_, made);
  put_text(field::current, file_, made);
  if (in_progress())
    put_text(field::place, ahead_.empty() ? place_ : ahead_.front().place, made);
  for (const auto& name : names_) // which no read has begun
    put_text(field::next, name, made);
  for (const auto& [number, one] : returned_) {
    std::string record;
    put_varint(static_cast<uint64_t>(one.unit), record);
    for (const auto* each : {&one.key, &one.value}) {
      const auto& text = *each->data<std::string>();
      put_varint(text.size(), record);
      record += text;
    }
    put_text(field::again, record, made);
  }
  return made;
}

status file_reader::restore(std::string_view state, answers& done) {
  auto to = parse_state(state);
  if (!to)
    return invalid("reader '", name(), "': ", state.size(), " bytes are not the state of a reader");
  forget_file();
  returned_.clear();
  taken_.clear();
  for (auto& one : waiting_)
    one.got.clear();
  started_ = to->started;
  finished_ = to->finished;
  // A file that was begun is the last one.
  if (in_progress())
    finished_ = started_ - 1;
  produced_ = to->produced;
  file_ = std::move(to->file);
  place_ = std::move(to->place);
  names_ = std::move(to->names);
  for (auto& one : to->again) {
    auto number = next_number_++;
    returned_[number] = {.number = number,
                         .unit = one.unit,
                         .key = tensor::scalar(std::move(one.key)),
                         .value = tensor::scalar(std::move(one.value))};
  }
  serve(done);
  return {};
}

status file_reader::declare_again(const responder& other) const {
  if (static_cast<const file_reader&>(other).layout_ == layout_)
    return {};
  return invalid("reader '", name(), "' exists, and is declared again with other records");
}

std::string file_reader::describe() const {
  auto text = in_progress() ? concat("reads '", file_, "'") : std::string{"has no file"};
  text += concat(", ", ahead_.size() + returned_.size(), " records read ahead");
  if (asking_)
    text += ", waits for the name of a file";
  if (loading_)
    text += ", waits for the disk";
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " reads wait");
}

} // namespace troupe
