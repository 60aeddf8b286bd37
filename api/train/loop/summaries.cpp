#include "troupe/api/train/loop/summaries.hpp"
// Adds summary nodes, and writes event files.

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/storage/folder_lock.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include <unistd.h>

namespace troupe {

using namespace std::chrono_literals;

namespace {

// Seconds since 1970, the unit of event files.
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// Returns a number that is unique among the writers of this machine.
uint64_t next_number() {
  static std::atomic<uint64_t> count{0};
  return static_cast<uint64_t>(getpid()) << 20 | (count++ & 0xfffff);
}

} // namespace

edge summaries::scalar(const std::string& tag, edge value, location where) {
  summaries_.push_back(scalar_summary(tensor::scalar(tag), value, {}, where));
  return summaries_.back();
}

edge summaries::histogram(const std::string& tag, edge values, location where) {
  summaries_.push_back(histogram_summary(tensor::scalar(tag), values, {}, where));
  return summaries_.back();
}

edge summaries::images(const std::string& tag, edge images, int64_t max_count, location where) {
  summaries_.push_back(
      image_summary(tensor::scalar(tag), images, {.max_images = max_count}, {}, where));
  return summaries_.back();
}

edge summaries::sounds(const std::string& tag, edge sounds, float sample_rate, int64_t max_count,
                       location where) {
  summaries_.push_back(audio_summary_v2(tensor::scalar(tag), sounds, sample_rate,
                                        {.max_outputs = max_count}, {}, where));
  return summaries_.back();
}

edge summaries::merged(location where) const {
  if (summaries_.empty())
    reject("merged", where, "there are no summaries yet");
  return merge_summary(summaries_, {}, where);
}

struct summary_writer::state {
  std::mutex mutex;
  std::string folder, path;
  std::shared_ptr<folder_lock> lock; // released when the file is closed
  std::optional<event_writer> writer;
  std::chrono::steady_clock::time_point flushed = std::chrono::steady_clock::now();

  void check(status outcome, const char* function, const location& where) const {
    if (!outcome)
      throw error{
          std::move(outcome).with_context(concat(function, " (", to_string(where), "): ", path))};
  }

  template <class Write>
  void write(const char* function, const location& where, Write&& operation) {
    std::lock_guard guard{mutex};
    if (!writer)
      check(failure(error_kind::failed_precondition, "the file was closed"), function, where);
    if (is_torn)
      check(begin_next_file(), function, where);
    auto outcome = operation(*writer);
    if (auto now = std::chrono::steady_clock::now(); outcome && now - flushed > 1s) {
      flushed = now;
      outcome = writer->flush();
    }
    is_torn =
        !outcome && outcome.kind() != error_kind::invalid_argument; // an error of the file system
    check(std::move(outcome), function, where);
  }

private:
  // Starts the next file, because readers find nothing after a record that was written in part.
  status begin_next_file() {
    auto now = seconds_now();
    if (next_path.empty()) // retries use the same path until the file is created
      next_path = path_in(folder, event_file_name(now, host_name(), next_number()));
    TROUPE_ASSIGN(auto next_writer, event_writer::create(real_files(), next_path, now));
    next_path.clear();
    writer.emplace(std::move(next_writer));
    return {};
  }

  bool is_torn = false;
  std::string next_path;
};

summary_writer::summary_writer(const std::string& folder, location where)
    : summary_writer(folder, summary_options{}, where) {}

summary_writer::summary_writer(const std::string& folder, const summary_options& options,
                               location where)
    : state_(std::make_unique<state>()) {
  auto now = seconds_now();
  state_->folder = folder;
  state_->path = path_in(folder, event_file_name(now, host_name(), next_number()));
  state_->check(real_files().make_folder(folder), "summary_writer", where);
  auto lock = folder_lock::acquire(
      folder, {.file = "events-writer.lock",
               .content = "events",
               .owner = concat("summary_writer (", to_string(where), ')'),
               .take_over = options.take_over,
               .how_to_take_over = "set summary_options::take_over (troupe train --take-over)",
               .shared_in_process = true});
  state_->check(lock.status(), "summary_writer", where);
  state_->lock = *std::move(lock);
  auto first_writer = event_writer::create(real_files(), state_->path, now);
  state_->check(first_writer.status(), "summary_writer", where);
  state_->writer.emplace(*std::move(first_writer));
}

summary_writer::summary_writer(summary_writer&&) noexcept = default;
summary_writer& summary_writer::operator=(summary_writer&& other) noexcept {
  if (this != &other) {
    if (state_ && state_->writer)
      (void)state_->writer->finish().ok();
    state_ = std::move(other.state_);
  }
  return *this;
}

summary_writer::~summary_writer() {
  if (state_ && state_->writer)
    (void)state_->writer->finish().ok();
}

void summary_writer::add(const tensor& summary, int64_t step, location where) {
  need_state("summary_writer::add", where, state_ != nullptr, "writer");
  if (summary.type() != dtype::string || summary.elements() != 1)
    reject("summary_writer::add", where, "a summary is a string, got ", summary.type(),
           summary.dims());
  state_->write("summary_writer::add", where, [&](event_writer& writer) {
    return writer.add(seconds_now(), step, summary.data<std::string>()[0]);
  });
}

void summary_writer::add(const std::string& tag, float value, int64_t step, location where) {
  need_state("summary_writer::add", where, state_ != nullptr, "writer");
  state_->write("summary_writer::add", where, [&](event_writer& writer) {
    return writer.add({.seconds = seconds_now(), .step = step, .values = {{tag, value}}});
  });
}

void summary_writer::add_graph(const graph& model, location where) {
  need_state("summary_writer::add_graph", where, state_ != nullptr, "writer");
  auto bytes = write_graph_def(model);
  state_->check(bytes.status(), "summary_writer::add_graph", where);
  state_->write("summary_writer::add_graph", where, [&](event_writer& writer) {
    return writer.add({.seconds = seconds_now(), .graph_def = *std::move(bytes)});
  });
}

void summary_writer::flush(location where) {
  need_state("summary_writer::flush", where, state_ != nullptr, "writer");
  state_->write("summary_writer::flush", where,
                [](event_writer& writer) { return writer.flush(); });
}

void summary_writer::close(location where) {
  need_state("summary_writer::close", where, state_ != nullptr, "writer");
  state_->write("summary_writer::close", where,
                [](event_writer& writer) { return writer.finish(); });
  std::lock_guard guard{state_->mutex};
  state_->writer.reset();
  state_->lock.reset();
}

const std::string& summary_writer::path() const noexcept {
  static const std::string nowhere;
  return state_ ? state_->path : nowhere;
}

} // namespace troupe
