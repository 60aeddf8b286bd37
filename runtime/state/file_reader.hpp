// The rules of a reader: takes names of files from a queue, and gives their records (white paper
// 4.5, TensorFlow's ReaderBase).
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/runtime/state/responder.hpp"

#include <map>
#include <memory>
#include <unordered_map>

namespace troupe {

/// Records come in the order of the names and of the files, to requests in the order of their
/// arrival. Reads ahead within a file, so many records at once that a read is seldom an errand.
///
/// What a step was given goes back to its place if the step fails. A file that cannot be read any
/// further stays the current one: each read fails, with data_loss if it is damaged or was cut off,
/// and tries again where the file is intact. Only behind a record of a TFRecord file whose bytes
/// are damaged, but not its length, the next read goes on.
class file_reader final : public responder {
public:
  file_reader(std::string name, record_layout layout);
  ~file_reader() override;

  struct reading {
    int64_t count = 1;
    bool many = false;     ///< up to `count`, as vectors; fewer only where a file ends
    bool goes_back = true; ///< if the step fails
  };
  /// Gives the key and the value of a record: the file's name and, but for whole files, the place
  /// in it; and its bytes. Asks for another file where there is none; an error of the source is the
  /// answer then, such as out_of_range at the end of the data.
  void read(request_id who, reading how, answers& done);

  int64_t records_produced() const noexcept { return produced_; }
  /// Files that have been read to their end.
  int64_t work_units_completed() const noexcept { return finished_; }

  /// Where it stands, for restore() in another process: TensorFlow's ReaderBaseState, the place in
  /// the file as field 15, names of files that it has not begun as 16, and records that came back
  /// from steps that failed as 17. What running steps have read is spent.
  result<std::string> state() const;
  /// Goes on where another reader stood. Fails with invalid_argument, and changes nothing, where
  /// the bytes say no such thing; whether the file has that place is said by the next read.
  status restore(std::string_view state, answers& done);
  /// Becomes as new, but goes on to answer those that wait.
  void rewind(answers& done);

  std::string_view kind() const noexcept override { return "reader"; }
  status declare_again(const responder& other) const override;
  void cancel(const which_requests& which, const status& why, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void settle(step_id step, bool failed, answers& done) override;
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  void take_errands(std::vector<errand>& to) override;
  void errand_ended(uint32_t number, status outcome, std::vector<tensor> values,
                    answers& done) override;

private:
  struct record {
    uint64_t number = 0;    // among all that were read
    int64_t unit = 0;       // the file, among all that were begun
    std::string place = {}; // in it
    tensor key = {}, value = {};
  };
  struct pending_read {
    request_id who;
    reading how;
    std::vector<record> got = {};
  };
  struct loader; // what an errand works on

  bool in_progress() const noexcept { return started_ != finished_; }
  void serve(answers& done);
  const record* next_ready() const;
  bool take_one(pending_read& to);
  bool begin_file();
  void end_file();
  void answer_first(answers& done);
  void fail_first(status why, answers& done);
  void give_back(std::vector<record> all);
  void forget_file();

  const record_layout layout_;
  std::deque<pending_read> waiting_;
  std::deque<std::string> names_; // of the source, for files to come
  std::string file_;
  std::string place_; // where the next record begins that is not in ahead_; empty: at the begin
  int64_t started_ = 0, finished_ = 0, produced_ = 0;
  std::deque<record> ahead_;
  std::map<uint64_t, record> returned_; // by number: before those ahead
  std::unordered_map<step_id, std::vector<record>> taken_;
  std::shared_ptr<loader> loader_; // of the file
  bool at_end_ = false;            // nothing is behind those ahead
  status broken_;                  // what is behind those ahead cannot be read
  bool stumbled_ = false;          // so it was when the last errand ended

  uint32_t next_errand_ = 1, loading_ = 0, asking_ = 0; // 0: none
  std::optional<request_id> asks_for_;
  std::vector<errand> errands_;
  uint64_t next_number_ = 0;
};

} // namespace troupe
