// A reader, the queue of its files and a disk; the reader's deferred operations run when the test
// requests it.
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
  size_t file_operations = 0;

  explicit reader_world(record_layout layout) : reader("r", std::move(layout)) {}

  static request_id step(uint64_t number) { return {{1, number}, number}; }

  void offer(const std::string& name) {
    answers queue_answers;
    queue->enqueue({{2, ++names_}, names_}, {tensor::scalar(name)}, queue_answers);
    pass(queue_answers);
  }
  void end_of_data() {
    answers queue_answers;
    queue->close(false, queue_answers);
    pass(queue_answers);
  }
  /// Begins a read, and runs the resulting deferred operations.
  void begin(uint64_t number, file_reader::read_options options = {}) {
    reader.read(step(number), options, done);
    run();
  }
  /// The answer to a read; nothing while it waits.
  std::optional<answer> answer_of(uint64_t number) {
    for (const auto& finished : done)
      if (finished.id == step(number))
        return finished;
    return {};
  }
  /// A read, as "key=value", "key=value key=value", "waits" or an error.
  std::string read(file_reader::read_options options = {}) {
    begin(++reads_, options);
    return text_of(reads_);
  }
  std::string text_of(uint64_t number) {
    auto reply = answer_of(number);
    if (!reply)
      return "waits";
    if (!reply->outcome)
      return reply->outcome.message();
    auto keys = reply->tensors.at(0).values<std::string>();
    auto values = reply->tensors.at(1).values<std::string>();
    std::string text;
    for (size_t i = 0; i < keys.size(); ++i)
      text += concat(i ? " " : "", keys[i], '=', values[i]);
    return text;
  }
  uint64_t last_read() const { return reads_; }

  void run() {
    std::vector<deferred_operation> drained;
    for (;;) {
      drained.clear();
      reader.take_operations(drained);
      if (drained.empty())
        return;
      for (auto& queued_operation : drained) {
        if (queued_operation.work) {
          ++file_operations;
          auto outcome = queued_operation.work(*files);
          reader.operation_ended(queued_operation.number, outcome, {}, done);
          continue;
        }
        request_id requester{queued_operation.requester->step, 1000 + queued_operation.number};
        queue_requests_[requester.number] = queued_operation.number;
        answers answers_given;
        queued_operation.ask(*queue, {requester}, answers_given);
        pass(answers_given);
      }
    }
  }

  /// Fails a step: the reader and the queue are both notified.
  void fail(uint64_t number) {
    auto failed_step = step(number).step;
    auto outcome = failure(error_kind::cancelled, "the step has failed");
    answers given_up;
    queue->cancel(failed_step, outcome, given_up);
    pass(given_up);
    reader.cancel(failed_step, outcome, done);
    reader.end_step(failed_step, true, done);
    run();
  }

private:
  void pass(answers& from_queue) {
    for (auto& queued_operation : from_queue)
      if (auto asked_entry = queue_requests_.find(queued_operation.id.number);
          asked_entry != queue_requests_.end()) {
        auto number = asked_entry->second;
        queue_requests_.erase(asked_entry);
        reader.operation_ended(number, std::move(queued_operation.outcome),
                               std::move(queued_operation.tensors), done);
      }
    run();
  }

  std::map<uint64_t, uint32_t> queue_requests_; // deferred operations, by requests to the queue
  uint64_t names_ = 0, reads_ = 0;
};

} // namespace troupe::test
