// Replays the launches of a region: the time of small kernels is dominated by their launches, and a
// recording of many launches is launched as one.
#pragma once
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/program/program.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

/// Records the launches of a region once it has run a few times with tensors of the same shapes,
/// and replays them in later runs. A replay requires that everything the launches depend on is the
/// same, except elements in the device's memory: types and shapes of the inputs, values that
/// determine a shape or a launch, and addresses of variables. Otherwise the region runs as usual.
/// Any thread may use it; while one thread does, others run the region as usual.
class region_replay {
public:
  /// Returns null if the region cannot be replayed, or not with profit.
  static std::shared_ptr<region_replay> make(const program& compiled, uint32_t region);
  ~region_replay();

  /// Runs the region, but puts the tensors of its emissions into `leaving`: one for each token,
  /// send, fetch and wait of the code. Returns false if the region must run as usual; the slots
  /// that come from outside are unchanged then.
  result<bool> run(tensor* slots, std::vector<tensor>& leaving);

private:
  // How a replay treats an instruction.
  enum class role : uint8_t {
    launch, // is in the recording
    once,   // its output is kept, since it depends on shapes only
    again,  // runs again: a kernel on the host, or an upload
    leave,  // a token, a send, a fetch or a wait
  };
  // A tensor from outside the region.
  struct source {
    uint32_t slot = 0;
    bool by_value = false; // launches depend on its elements
    bool used = false;     // the recording reads it
  };
  struct analysis;
  struct capture_record;
  struct seen { // a source as it was in some run
    dtype type = dtype::none;
    shape dims = {};
    bool on_host = true;
    tensor value = {}; // set if the launches depend on it
  };
  struct signature { // shapes and values of the sources, and the runs with these
    std::vector<seen> sources;
    int runs = 0, required_runs = 0;
    std::vector<std::shared_ptr<capture_record>> repeats; // interchangeable recordings
  };

  explicit region_replay(const program& compiled) : program_(compiled) {}
  std::span<const instruction> code() const noexcept;
  signature* find(const tensor* slots);
  result<std::shared_ptr<capture_record>> record(const signature& model, const tensor* slots) const;
  result<bool> replay(capture_record& capture, tensor* slots, std::vector<tensor>& leaving,
                      bool& moved) const;
  status run_beforehand(const capture_record& capture, tensor* slots,
                        std::vector<tensor>& leaving) const;

  const program& program_;
  uint32_t region_ = 0;
  // Number of recordings with the same signature: two if an iteration of a loop reads the outputs
  // of the one before, which are in the memory of one recording.
  size_t max_repeats_ = 1;
  std::vector<role> roles_; // by instruction
  std::vector<source> sources_;
  std::vector<uint32_t> kept_; // slots that are computed once and read in each replay

  std::mutex mutex_;                  // guards the members below
  std::vector<signature> signatures_; // the most recently used is last
  int failures_ = 0, unmatched_signatures_ = 0;
  bool given_up_ = false;
};

} // namespace troupe
