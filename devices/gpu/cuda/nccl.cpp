#include "troupe/devices/gpu/cuda/nccl.hpp"

#include "troupe/devices/gpu/cuda/libraries.hpp"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(nccl, ncclAllGather);
TROUPE_LIBRARY_FUNCTION(nccl, ncclAllReduce);
TROUPE_LIBRARY_FUNCTION(nccl, ncclBroadcast);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommAbort);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommDestroy);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommGetAsyncError);
TROUPE_LIBRARY_FUNCTION(nccl, ncclCommInitAll);
TROUPE_LIBRARY_FUNCTION(nccl, ncclGroupEnd);
TROUPE_LIBRARY_FUNCTION(nccl, ncclGroupStart);
TROUPE_LIBRARY_FUNCTION(nccl, ncclReduceScatter);

result<ncclDataType_t> element_type(dtype type) {
  switch (type) {
    case dtype::f16: return ncclFloat16;
    case dtype::bf16: return ncclBfloat16;
    case dtype::f32: return ncclFloat32;
    case dtype::f64: return ncclFloat64;
    case dtype::i32: return ncclInt32;
    case dtype::i64: return ncclInt64;
    case dtype::boolean: return ncclUint8; // copied, never summed
    default: return failure(error_kind::unimplemented, "NCCL knows no elements of type ", type);
  }
}

ncclRedOp_t operation(const collective_call& call) {
  switch (call.operation) {
    case reduction::sum: return call.average ? ncclAvg : ncclSum;
    case reduction::product: return ncclProd;
    case reduction::min: return ncclMin;
    case reduction::max: return ncclMax;
  }
  return ncclSum;
}

class nccl_communicator final : public communicator {
public:
  status start(std::span<const int> gpus) {
    members_.resize(gpus.size());
    std::vector<int> list{gpus.begin(), gpus.end()};
    auto outcome = ncclCommInitAll(members_.data(), static_cast<int>(list.size()), list.data());
    if (!outcome)
      members_.clear();
    return outcome;
  }
  ~nccl_communicator() override {
    if (aborting_.joinable())
      aborting_.join();
    if (!aborted_)
      for (auto* member : members_)
        static_cast<void>(ncclCommDestroy(member));
  }

  status launch(const collective_call& call, std::span<const share> shares) override {
    std::lock_guard guard{mutex_};
    if (aborted_)
      return failure(error_kind::aborted, "a GPU of the group was lost: run the step again");
    for (auto* member : members_) {
      ncclResult_t last_error = ncclSuccess;
      TROUPE_TRY(ncclCommGetAsyncError(member, &last_error));
      if (last_error != ncclSuccess && last_error != ncclInProgress)
        return nccl().check(static_cast<int>(last_error), "an earlier exchange");
    }
    TROUPE_ASSIGN(auto type, element_type(call.type));
    // A group call is atomic: one thread launches for several GPUs.
    TROUPE_TRY(ncclGroupStart());
    status outcome;
    for (size_t i = 0; i < shares.size() && outcome; ++i)
      outcome = launch_member(call, shares, i, type);
    auto ended = ncclGroupEnd();
    return outcome ? ended : outcome;
  }

  // Called when a GPU is lost: must not block, but ncclCommAbort may. The abort ends a launch that
  // waits for the lost GPU; any other launch ends before.
  void abort(const status&) noexcept override {
    if (aborted_.exchange(true))
      return;
    aborting_ = std::thread{[this] {
      std::unique_lock guard{mutex_, max_wait};
      for (auto* member : members_)
        static_cast<void>(ncclCommAbort(member));
    }};
  }

private:
  status launch_member(const collective_call& call, std::span<const share> shares, size_t index,
                       ncclDataType_t type) {
    const auto& own_share = shares[index];
    auto* member = members_[index];
    auto in = reinterpret_cast<cudaStream_t>(own_share.in);
    auto count = static_cast<size_t>(call.dims.elements());
    switch (call.kind) {
      case collective_kind::all_reduce:
        return ncclAllReduce(own_share.input, own_share.output, count, type, operation(call),
                             member, in);
      case collective_kind::reduce_scatter:
        return ncclReduceScatter(own_share.input, own_share.output, count / shares.size(), type,
                                 operation(call), member, in);
      case collective_kind::all_gather:
        return ncclAllGather(own_share.input, own_share.output, count, type, member, in);
      case collective_kind::broadcast:
        return ncclBroadcast(own_share.input, own_share.output, count, type,
                             static_cast<int>(call.root), member, in);
    }
    return {};
  }

  static constexpr std::chrono::seconds max_wait{2};

  std::timed_mutex mutex_; // of launches
  std::vector<ncclComm_t> members_;
  std::atomic<bool> aborted_ = false;
  std::thread aborting_;
};

} // namespace

result<std::shared_ptr<communicator>> make_nccl_communicator(std::span<const int> gpus) {
  auto created = std::make_shared<nccl_communicator>();
  TROUPE_TRY(created->start(gpus));
  return std::shared_ptr<communicator>{std::move(created)};
}

} // namespace troupe::gpu

#else // without NCCL's header

namespace troupe::gpu {

result<std::shared_ptr<communicator>> make_nccl_communicator(std::span<const int>) {
  return failure(error_kind::unimplemented,
                 "this build has no NCCL, which collective operations of GPUs need: build it where "
                 "nccl.h is found, or put the group on processors");
}

} // namespace troupe::gpu
#endif
