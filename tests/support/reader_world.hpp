// A reader, the queue of its files and a disk, whose errands run when a test says so.
#pragma once
#include "tests/support/simulated_disk.hpp"
#include "troupe/runtime/state/element_queue.hpp"
#include "troupe/runtime/state/file_reader.hpp"
#include "troupe/serialization/records/files_for_readers.hpp"

#include <map>

namespace troupe::test {

struct reader_world {
  simulated_disk disk{1};
  std::unique_ptr<file_access> files = files_for_readers(disk);
  std::unique_ptr<element_queue> queue =
      *element_queue::make({.name = "files", .types = {dtype::string}});
  file_reader reader;
  answers done; // in their order
  size_t file_errands = 0;

  explicit reader_world(record_layout layout) : reader("r", std::move(layout)) {}

  static request_id step(uint64_t number) { return {{1, number}, number}; }

  void offer(const std::string& name) {
    answers put;
    queue->enqueue({{2, ++names_}, names_}, {tensor::scalar(name)}, put);
    pass(put);
  }
  void end_of_data() {
    answers put;
    queue->close(false, put);
    pass(put);
  }
  /// Begins a read, and runs the errands that come of it.
  void begin(uint64_t number, file_reader::reading how = {}) {
    reader.read(step(number), how, done);
    run();
  }
  /// The answer that a read has got; none: it waits.
  std::optional<answer> answer_of(uint64_t number) {
    for (const auto& one : done)
      if (one.who == step(number))
        return one;
    return {};
  }
  /// A read, as "key=value", "key=value key=value", "waits" or an error.
  std::string read(file_reader::reading how = {}) {
    begin(++reads_, how);
    return told(reads_);
  }
  std::string told(uint64_t number) {
    auto found = answer_of(number);
    if (!found)
      return "waits";
    if (!found->outcome)
      return found->outcome.message();
    auto keys = found->tensors.at(0).values<std::string>();
    auto values = found->tensors.at(1).values<std::string>();
    std::string text;
    for (size_t i = 0; i < keys.size(); ++i)
      text += concat(i ? " " : "", keys[i], '=', values[i]);
    return text;
  }
  uint64_t last_read() const { return reads_; }

  void run() {
    std::vector<errand> all;
    for (;;) {
      all.clear();
      reader.take_errands(all);
      if (all.empty())
        return;
      for (auto& one : all) {
        if (one.work) {
          ++file_errands;
          auto outcome = one.work(*files);
          reader.errand_ended(one.number, outcome, {}, done);
          continue;
        }
        request_id who{one.asks_for->step, 1000 + one.number};
        asked_[who.number] = one.number;
        answers got;
        one.ask(*queue, {who}, got);
        pass(got);
      }
    }
  }

  /// A step fails, or has failed: both sides hear of it.
  void fail(uint64_t number) {
    auto of = step(number).step;
    auto why = failure(error_kind::cancelled, "the step has failed");
    answers given_up;
    queue->cancel(of, why, given_up);
    pass(given_up);
    reader.cancel(of, why, done);
    reader.settle(of, true, done);
    run();
  }

private:
  void pass(answers& from_queue) {
    for (auto& one : from_queue)
      if (auto it = asked_.find(one.who.number); it != asked_.end()) {
        auto number = it->second;
        asked_.erase(it);
        reader.errand_ended(number, std::move(one.outcome), std::move(one.tensors), done);
      }
    run();
  }

  std::map<uint64_t, uint32_t> asked_; // errands, by requests to the queue
  uint64_t names_ = 0, reads_ = 0;
};

} // namespace troupe::test
