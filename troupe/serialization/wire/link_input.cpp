#include "troupe/serialization/wire/link_input.hpp"

#include "troupe/serialization/wire/link.hpp"
#include "troupe/serialization/wire/link_output.hpp"

namespace troupe {

link_input::link_input(const link_options& options, link_receiver& to)
    : options_(options), to_(to), reader_(options.max_message) {}

void link_input::open() noexcept {
  open_ = true;
  reader_.set_max_message(options_.max_message);
}

status link_input::on_message(std::span<const std::byte> body, uint64_t first_transfer) {
  TROUPE_ASSIGN(auto what, read_envelope(body));
  TROUPE_TRY(check(what, first_transfer));
  if (!what.outside.empty())
    return hold(body, std::move(what), first_transfer);
  TROUPE_ASSIGN(auto decoded, decode(body));
  return to_.on_message(std::move(decoded));
}

// Before anything is allocated.
status link_input::check(const envelope& what, uint64_t first_transfer) const {
  if (what.outside.empty())
    return first_transfer == 0 ? status{} : invalid("a message announces payloads that it lacks");
  if (!open_)
    return invalid("the peer announces payloads before it has introduced itself");
  if (what.order != delivery::free)
    return invalid("a message of a kind that brings no tensors announces payloads");
  if (first_transfer != next_transfer_)
    return invalid("payload ", first_transfer, " is announced, the next one is ", next_transfer_);
  uint64_t total = 0;
  for (auto size : what.outside) {
    if (size == 0)
      return invalid("an empty payload is announced");
    if (size > options_.max_tensor_bytes || total + size > options_.max_tensor_bytes)
      return failure(error_kind::resource_exhausted, "payloads of more than ",
                     options_.max_tensor_bytes, " bytes are announced by one message");
    total += size;
  }
  return {};
}

status link_input::hold(std::span<const std::byte> body, envelope what, uint64_t first_transfer) {
  auto which = held_.emplace(held_.end());
  which->bytes.assign(body.begin(), body.end());
  which->sizes = std::move(what.outside);
  which->payloads.resize(which->sizes.size());
  which->missing = which->sizes.size();
  held_bytes_ += cost_of_holding(which->bytes.size(), which->sizes.size());
  if (held_.size() > 1 && held_bytes_ > options_.max_held_bytes)
    return failure(error_kind::resource_exhausted, "messages of ", held_bytes_,
                   " bytes wait for their payloads, at most ", options_.max_held_bytes, " may");
  for (size_t i = 0; i < which->sizes.size(); ++i) {
    incoming_.emplace(first_transfer + i, incoming{which, i});
    to_pull_.push_back(first_transfer + i);
  }
  next_transfer_ += which->sizes.size();
  return pull_more();
}

// First come, first pulled. A payload waits while others' memory is in use and would become too
// much; that memory is freed in any case, because everything announced earlier is pulled already.
// TODO(perf): pull a tensor_push only when a Recv wants it.
// TODO(limit): what is announced for a step that has failed meanwhile is pulled all the same, and
// what is under way cannot be withdrawn.
status link_input::pull_more() {
  while (!to_pull_.empty()) {
    auto transfer = to_pull_.front();
    auto& next = incoming_.find(transfer)->second;
    auto& message_of = *next.of;
    auto size = message_of.sizes[next.index];
    if (payload_bytes_ != message_of.memory && payload_bytes_ + size > options_.max_pending_bytes)
      break;
    // TODO(limit): without memory the connection ends; only this message would have to fail.
    auto& from = size <= options_.max_from_memory ? *options_.memory : heap_allocator();
    TROUPE_ASSIGN(message_of.payloads[next.index],
                  tensor::make(dtype::u8, shape{static_cast<int64_t>(size)}, from));
    payload_bytes_ += size;
    message_of.memory += size;
    next.pulled = true;
    to_pull_.pop_front();
    TROUPE_TRY(to_.send_pull(transfer));
  }
  return {};
}

result<std::byte*> link_input::chunk_target(uint64_t transfer, size_t bytes) {
  auto found = incoming_.find(transfer);
  if (found == incoming_.end() || !found->second.pulled)
    return invalid("a chunk of payload ", transfer, " comes, which was not asked for");
  auto& [of, index, received, pulled] = found->second;
  if (bytes == 0 || bytes > of->sizes[index] - received)
    return invalid("payload ", transfer, " of ", of->sizes[index], " bytes goes on with ", bytes,
                   " bytes after ", received);
  return static_cast<std::byte*>(of->payloads[index].raw()) + received;
}

status link_input::on_chunk(uint64_t transfer, size_t bytes) {
  auto found = incoming_.find(transfer);
  auto& [of, index, received, pulled] = found->second;
  received += bytes;
  if (received < of->sizes[index])
    return {};
  auto which = of;
  incoming_.erase(found);
  return --which->missing == 0 ? complete(which) : status{};
}

status link_input::complete(place which) {
  auto ready = std::move(*which);
  held_.erase(which);
  held_bytes_ -= cost_of_holding(ready.bytes.size(), ready.sizes.size());
  payload_bytes_ -= ready.memory;
  TROUPE_ASSIGN(auto decoded, decode(ready.bytes, ready.payloads));
  ready = {}; // so that the receiver owns the tensors' memory alone
  TROUPE_TRY(to_.on_message(std::move(decoded)));
  return pull_more();
}

} // namespace troupe
