// A reader of files: takes the names of files from a queue and returns their records (white paper
// 4.5, TensorFlow's ReaderBase).
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <map>
#include <memory>
#include <unordered_map>

namespace troupe {

/// Returns records in the order of the file names and of the files, to requests in the order of
/// their arrival. Reads ahead within a file in parts, so that most reads need no access to the
/// file.
///
/// Records that a step was given go back to their places if the step fails. A file that cannot be
/// read any further stays the current file: each read tries again after the last intact record, and
/// fails, with data_loss if the file is damaged or truncated. There is one exception: after a
/// record of a TFRecord file whose bytes are damaged, but not its length, the next read continues.
class file_reader final : public waitable_resource {
public:
  file_reader(std::string name, record_layout layout);
  ~file_reader() override;

  struct read_options {
    int64_t count = 1;
    bool as_batch = false; ///< up to `count` records, as vectors; fewer only at the end of a file
    bool return_on_failure = true; ///< the records go back if the step fails
  };
  /// Returns the key and the value of a record: the file's name with the place in it (only the name
  /// for whole files), and the record's bytes. Without a current file, asks the queue for a name;
  /// an error of the queue becomes the answer, such as out_of_range at the end of the data.
  void read(request_id request, read_options options, answers& done);

  int64_t records_produced() const noexcept { return produced_; }
  /// Number of files that have been read to their end.
  int64_t work_units_completed() const noexcept { return finished_; }

  /// Serializes the position for restore(), also in another process: TensorFlow's ReaderBaseState
  /// with the place in the file as field 15, names of files that have not been begun as 16, and
  /// records that went back from failed steps as 17. Records that running steps have read count as
  /// consumed.
  result<std::string> state() const;
  /// Continues at the position of another reader. Fails with invalid_argument, and changes nothing,
  /// if the bytes are malformed. A place that the file does not have fails at the next read.
  status restore(std::string_view state, answers& done);
  /// Returns to the initial state, but still answers the requests that wait.
  void rewind(answers& done);

  std::string_view kind() const noexcept override { return "reader"; }
  status declare_again(const waitable_resource& other) const override;
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void end_step(step_id step, bool failed, answers& done) override;
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  void take_operations(std::vector<deferred_operation>& to) override;
  void operation_ended(uint32_t number, status outcome, std::vector<tensor> values,
                       answers& done) override;

private:
  struct record {
    uint64_t number = 0;    // counts all records that were read
    int64_t unit = 0;       // counts the files that were begun
    std::string place = {}; // in the file
    tensor key = {}, value = {};
  };
  struct pending_read {
    request_id id;
    read_options options;
    std::vector<record> records = {};
  };
  struct loader;

  bool in_progress() const noexcept { return started_ != finished_; }
  void serve(answers& done);
  const record* next_ready() const;
  bool take_record(pending_read& read);
  bool begin_file();
  void end_file();
  void answer_first(answers& done);
  void fail_first(status reason, answers& done);
  void give_back(std::vector<record> records);
  void forget_file();

  const record_layout layout_;
  std::deque<pending_read> waiting_;
  std::deque<std::string> names_; // names from the queue for the next files
  std::string file_;
  std::string place_; // of the first record that is not in ahead_; empty: at the beginning
  int64_t started_ = 0, finished_ = 0, produced_ = 0;
  std::deque<record> ahead_;
  std::map<uint64_t, record> returned_; // by number; they precede those in ahead_
  std::unordered_map<step_id, std::vector<record>> taken_;
  std::shared_ptr<loader> loader_; // of the current file
  bool at_end_ = false;            // ahead_ holds the last records of the file
  status broken_;                  // the error after the records in ahead_
  bool last_part_failed_ = false;

  uint32_t next_operation_ = 1, loading_ = 0, name_operation_ = 0; // 0: none
  std::optional<request_id> name_requested_for_;
  std::vector<deferred_operation> operations_;
  uint64_t next_number_ = 0;
};

} // namespace troupe
