// Repeats what a region launches: runs of small nodes are bound by their launches, and a recording
// of them all is one launch.
#pragma once
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/program/program.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

/// Notes down what a region launches once it was run a few times with tensors of the same shapes,
/// and launches that in later runs. What the launches depend on, beside elements in the device's
/// memory, is the same each time, or the region runs as usual: types and shapes of what comes in,
/// the values of what decides a shape or a launch, the places of variables. Any thread may use it;
/// while one does, others run as usual.
class region_replay {
public:
  /// Null where the region cannot be repeated, or not with profit.
  static std::shared_ptr<region_replay> make(const program& of, uint32_t region);
  ~region_replay();

  /// Runs the region, except for what it hands on, which is put into `leaving`: one for each token,
  /// send and fetch of the code. Or returns false: then it is to run as usual, and the slots that
  /// come from outside hold what they held.
  result<bool> run(tensor* slots, std::vector<tensor>& leaving);

private:
  // What becomes of an instruction in a replay.
  enum class role : uint8_t {
    launch, // it is in the recording
    once,   // what it made is kept: it depends on shapes alone
    again,  // it is run: on the host, or an upload
    leave,  // a token, a send or a fetch
  };
  // What comes from outside the region.
  struct source {
    uint32_t slot = 0;
    bool by_value = false; // launches depend on its elements
    bool used = false;     // the recording reads it
  };
  struct analysis;
  struct capture_record;
  struct seen { // a source, in some run
    dtype type = dtype::none;
    shape dims = {};
    bool on_host = true;
    tensor value = {}; // where it counts
  };
  struct signature { // and what is known of runs with it
    std::vector<seen> sources;
    int runs = 0, enough = 0;
    std::vector<std::shared_ptr<capture_record>> repeats; // alike
  };

  explicit region_replay(const program& of) : program_(of) {}
  std::span<const instruction> code() const noexcept;
  signature* find(const tensor* slots);
  result<std::shared_ptr<capture_record>> record(const signature& like, const tensor* slots) const;
  result<bool> replay(capture_record& with, tensor* slots, std::vector<tensor>& leaving,
                      bool& moved) const;
  status run_beforehand(const capture_record& with, tensor* slots,
                        std::vector<tensor>& leaving) const;

  const program& program_;
  uint32_t region_ = 0;
  // Recordings of runs with the same signature: two where a turn of a loop takes what the one
  // before gave, which lies in the memory of one of them.
  size_t most_alike_ = 1;
  std::vector<role> roles_; // by instruction
  std::vector<source> sources_;
  std::vector<uint32_t> kept_; // slots that are made once and looked at again

  std::mutex mutex_;                  // of what follows
  std::vector<signature> signatures_; // the one used last is last
  int failures_ = 0, strangers_ = 0;
  bool given_up_ = false;
};

} // namespace troupe
