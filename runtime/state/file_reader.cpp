#include "troupe/runtime/state/file_reader.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/state/element_queue.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace troupe {
namespace {

// The size of one background read: large enough that handing it over costs little in comparison.
constexpr size_t part_records = 64, part_bytes = size_t{1} << 20;
// The next part is read when no more than this many records are left.
constexpr size_t low_records = part_records / 2;

// Parses a record's place, "BYTE RECORD".
std::pair<std::string_view, uint64_t> parse_place(std::string_view place) {
  auto gap = place.find(' ');
  uint64_t number = 0;
  if (gap != std::string_view::npos)
    std::from_chars(place.data() + gap + 1, place.data() + place.size(), number);
  return {place.substr(0, gap), number};
}

std::string key_of(record_format format, const std::string& file, std::string_view place) {
  auto [byte, number] = parse_place(place);
  switch (format) {
    case record_format::line: return concat(file, ':', number + 1);
    case record_format::fixed: return concat(file, ':', number);
    case record_format::tfrecord: return concat(file, ':', byte);
    case record_format::none:
    case record_format::whole: break;
  }
  return file;
}

// The fields of the protocol buffer ReaderBaseState; the fields from 15 on are our own.
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

void put_number(field number, int64_t value, std::string& to) {
  if (value == 0)
    return;
  put_varint(number << 3, to);
  put_varint(static_cast<uint64_t>(value), to);
}

void put_text(field number, std::string_view value, std::string& to) {
  if (value.empty())
    return;
  put_varint(number << 3 | 2, to);
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
  std::vector<record> again = {}; // records that go back from failed steps
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
  reader_state state;
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
          state.started = number;
        else if (*head >> 3 == field::finished)
          state.finished = number;
        else if (*head >> 3 == field::produced)
          state.produced = number;
        break;
      }
      case 2: {
        if (*value > from.size())
          return {};
        auto text = from.substr(0, static_cast<size_t>(*value));
        from.remove_prefix(text.size());
        if (*head >> 3 == field::current)
          state.file = text;
        else if (*head >> 3 == field::place)
          state.place = text;
        else if (*head >> 3 == field::next)
          state.names.emplace_back(text);
        else if (*head >> 3 == field::again) {
          auto returned = parse_record(text);
          if (!returned)
            return {};
          state.again.push_back(*std::move(returned));
        }
        break;
      }
      default: return {};
    }
  }
  constexpr auto max_count =
      std::numeric_limits<int64_t>::max() / 2; // so that counts cannot overflow
  if (state.started > max_count || state.produced > max_count || state.finished < 0 ||
      state.produced < 0 || state.started < state.finished ||
      (state.started == state.finished && !state.place.empty()))
    return {};
  for (const auto& returned : state.again)
    if (returned.unit > state.started)
      return {};
  return state;
}

// Dequeues one name from the queue of names. The name does not go back if the step fails.
void take_name(waitable_resource& queue, question&& request, answers& done) {
  static_cast<element_queue&>(queue).dequeue(request.id, {.return_on_failure = false}, done);
}

// A truncated file is not the end of the data, which readers recognize by out_of_range.
status truncation_as_data_loss(status outcome) {
  return outcome.kind() == error_kind::out_of_range
             ? status{error_kind::data_loss, outcome.message()}
             : std::move(outcome);
}

} // namespace

// The state of reading a file. The background read owns it while it runs, else the reader.
struct file_reader::loader {
  std::string path;
  record_layout layout;
  std::string start = {}; // empty: at the beginning
  std::unique_ptr<record_reader> stream = {};

  std::vector<record> records = {};
  std::string place = {}; // after the records
  bool at_end = false;

  status run(file_access& files) {
    records.clear();
    if (!stream) {
      TROUPE_ASSIGN(auto opened, files.open(path, layout));
      if (!start.empty())
        TROUPE_TRY(opened->seek(start));
      stream = std::move(opened);
    }
    auto last_begin = start;
    auto outcome = guarded("reading records", [&] { return read_part(last_begin); });
    place = stream->position();
    if (outcome.kind() == error_kind::resource_exhausted) {
      // The record that did not fit into memory will be read again.
      stream.reset();
      place = start = std::move(last_begin);
    }
    return outcome;
  }

  /// Sets `last_begin` to the place of the last record that it tried to read.
  status read_part(std::string& last_begin) {
    std::string bytes;
    size_t total_bytes = 0;
    while (records.size() < part_records && total_bytes < part_bytes) {
      auto begin = stream->position();
      last_begin = begin;
      TROUPE_ASSIGN(auto has_record, stream->next(bytes));
      if (!has_record) {
        at_end = true;
        return {};
      }
      total_bytes += bytes.size();
      auto key = key_of(layout.format, path, begin);
      records.push_back({.place = std::move(begin),
                         .key = tensor::scalar(std::move(key)),
                         .value = tensor::scalar(std::move(bytes))});
      bytes.clear();
    }
    return {};
  }
};

file_reader::file_reader(std::string name, record_layout layout)
    : waitable_resource(std::move(name)), layout_(std::move(layout)) {}
file_reader::~file_reader() = default;

void file_reader::read(request_id request, read_options options, answers& done) {
  if (options.count < 1) {
    done.push_back(
        {request, invalid("reader '", name(), "': the number of records must be at least 1, got ",
                          options.count)});
    return;
  }
  waiting_.push_back({request, options});
  serve(done);
}

const file_reader::record* file_reader::next_ready() const {
  return !returned_.empty() ? &returned_.begin()->second
         : !ahead_.empty()  ? &ahead_.front()
                            : nullptr;
}

// As in TensorFlow, the end of a file is found by the read after its last record. A file that is a
// single record ends with this record.
bool file_reader::take_record(pending_read& read) {
  if (!returned_.empty()) {
    read.records.push_back(std::move(returned_.begin()->second));
    returned_.erase(returned_.begin());
  } else if (!ahead_.empty()) {
    read.records.push_back(std::move(ahead_.front()));
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
  at_end_ = last_part_failed_ = false;
  broken_ = {};
  place_.clear();
}

// Returns whether there is a current file now.
bool file_reader::begin_file() {
  if (!names_.empty()) {
    file_ = std::move(names_.front());
    names_.pop_front();
    ++started_;
    return true;
  }
  if (!name_operation_) {
    name_operation_ = next_operation_++;
    name_requested_for_ = waiting_.front().id;
    operations_.push_back(
        {.number = name_operation_, .requester = name_requested_for_, .ask = take_name});
  }
  return false;
}

void file_reader::serve(answers& done) {
  while (!waiting_.empty()) {
    auto& first = waiting_.front();
    // The records of one answer are from the same file.
    const auto* next = next_ready();
    if (!first.records.empty() &&
        (next ? next->unit != first.records.back().unit : !in_progress())) {
      answer_first(done);
      continue;
    }
    auto files_before = finished_;
    if (take_record(first)) {
      if (static_cast<int64_t>(first.records.size()) == first.options.count ||
          finished_ != files_before)
        answer_first(done);
      continue;
    }
    if (in_progress() && at_end_) {
      end_file();
      if (!first.records.empty())
        answer_first(done);
      continue;
    }
    if (in_progress() && !broken_.ok()) {
      if (first.records.empty())
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
  if (last_part_failed_ && waiting_.empty())
    return; // no read would receive the same error again
  if (!loader_)
    loader_ = std::make_shared<loader>(loader{.path = file_, .layout = layout_, .start = place_});
  loading_ = next_operation_++;
  operations_.push_back({.number = loading_, .work = [part = loader_](file_access& files) {
                           return part->run(files);
                         }});
}

void file_reader::answer_first(answers& done) {
  auto& first = waiting_.front();
  auto outcome = guarded("reading records", [&]() -> result<std::vector<tensor>> {
    if (!first.options.as_batch)
      return std::vector{first.records.front().key, first.records.front().value};
    std::vector<std::string> keys, values;
    for (const auto& taken : first.records) {
      keys.push_back(*taken.key.data<std::string>());
      values.push_back(*taken.value.data<std::string>());
    }
    return std::vector{tensor::vector(keys), tensor::vector(values)};
  });
  if (!outcome)
    return fail_first(outcome.status(), done);
  auto read = std::move(first);
  waiting_.pop_front();
  answer records_answer{read.id, {}, *std::move(outcome)};
  if (read.options.return_on_failure) {
    auto& taken = taken_[read.id.step];
    std::ranges::move(read.records, std::back_inserter(taken));
  }
  done.push_back(std::move(records_answer));
}

void file_reader::fail_first(status reason, answers& done) {
  done.push_back({waiting_.front().id, std::move(reason)});
  give_back(std::move(waiting_.front().records));
  waiting_.pop_front();
}

void file_reader::take_operations(std::vector<deferred_operation>& to) {
  std::ranges::move(operations_, std::back_inserter(to));
  operations_.clear();
}

void file_reader::operation_ended(uint32_t number, status outcome, std::vector<tensor> values,
                                  answers& done) {
  if (number == name_operation_) {
    name_operation_ = 0;
    auto requester = *std::exchange(name_requested_for_, std::nullopt);
    auto waits = !waiting_.empty() && waiting_.front().id == requester;
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
    outcome = truncation_as_data_loss(std::move(outcome));
    auto& part = *loader_;
    for (auto& loaded : part.records) {
      loaded.number = next_number_++;
      loaded.unit = started_;
      ahead_.push_back(std::move(loaded));
    }
    part.records.clear();
    if (part.stream || !part.place.empty())
      place_ = part.place;
    at_end_ = outcome.ok() && part.at_end;
    last_part_failed_ = !outcome.ok();
    broken_ = std::move(outcome);
    if (!broken_.ok() && waiting_.empty() && ahead_.empty())
      broken_ = {}; // the requests that waited are gone: the next read tries again
  }
  serve(done);
}

void file_reader::give_back(std::vector<record> records) {
  produced_ -= static_cast<int64_t>(records.size());
  for (auto& returned : records)
    returned_.emplace(returned.number, std::move(returned));
}

void file_reader::cancel(const request_filter& selected, const status& reason, answers& done) {
  for (auto& pending : waiting_)
    if (selected(pending))
      give_back(std::move(pending.records));
  fail_requests(waiting_, selected, reason, done);
  serve(done);
}

void file_reader::end_step(step_id step, bool failed, answers& done) {
  auto taken = taken_.extract(step);
  if (taken.empty() || !failed)
    return;
  give_back(std::move(taken.mapped()));
  serve(done);
}

void file_reader::rewind(answers& done) {
  forget_file();
  file_.clear();
  returned_.clear();
  taken_.clear();
  for (auto& pending : waiting_)
    pending.records.clear();
  started_ = finished_ = produced_ = 0;
  serve(done);
}

void file_reader::reset(const status& reason, answers& done) {
  fail_requests(waiting_, request_filter::every(), reason, done);
  names_.clear();
  rewind(done);
}

result<std::string> file_reader::state() const {
  std::string state;
  put_number(field::started, started_, state);
  put_number(field::finished, finished_, state);
  put_number(field::produced, produced_, state);
  put_text(field::current, file_, state);
  if (in_progress())
    put_text(field::place, ahead_.empty() ? place_ : ahead_.front().place, state);
  for (const auto& name : names_)
    put_text(field::next, name, state);
  for (const auto& [number, returned] : returned_) {
    std::string record;
    put_varint(static_cast<uint64_t>(returned.unit), record);
    for (const auto* component : {&returned.key, &returned.value}) {
      const auto& text = *component->data<std::string>();
      put_varint(text.size(), record);
      record += text;
    }
    put_text(field::again, record, state);
  }
  return state;
}

status file_reader::restore(std::string_view state, answers& done) {
  auto parsed = parse_state(state);
  if (!parsed)
    return invalid("reader '", name(), "': ", state.size(), " bytes are not the state of a reader");
  forget_file();
  returned_.clear();
  taken_.clear();
  for (auto& pending : waiting_)
    pending.records.clear();
  started_ = parsed->started;
  finished_ = parsed->finished;
  // If a file is in progress, the files before it have been finished.
  if (in_progress())
    finished_ = started_ - 1;
  produced_ = parsed->produced;
  file_ = std::move(parsed->file);
  place_ = std::move(parsed->place);
  names_ = std::move(parsed->names);
  for (auto& returned : parsed->again) {
    auto number = next_number_++;
    returned_[number] = {.number = number,
                         .unit = returned.unit,
                         .key = tensor::scalar(std::move(returned.key)),
                         .value = tensor::scalar(std::move(returned.value))};
  }
  serve(done);
  return {};
}

status file_reader::declare_again(const waitable_resource& other) const {
  if (static_cast<const file_reader&>(other).layout_ == layout_)
    return {};
  return invalid("reader '", name(), "' exists, and is declared again with other records");
}

std::string file_reader::describe() const {
  auto text = in_progress() ? concat("reads '", file_, "'") : std::string{"has no file"};
  text += concat(", ", ahead_.size() + returned_.size(), " records read ahead");
  if (name_operation_)
    text += ", waits for the name of a file";
  if (loading_)
    text += ", waits for the disk";
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " reads wait");
}

} // namespace troupe
