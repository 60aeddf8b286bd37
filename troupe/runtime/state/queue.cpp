#include "troupe/runtime/state/queue.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Copies elements between tensors, counted in whole slices of `extent` elements.
void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent) {
  if (extent == 0)
    return;
  if (from.type() == dtype::string) {
    std::copy_n(from.data<std::string>() + from_slice * extent, extent,
                to.data<std::string>() + to_slice * extent);
    return;
  }
  auto bytes = extent * static_cast<int64_t>(size_of(from.type()));
  std::memcpy(static_cast<char*>(to.raw()) + to_slice * bytes,
              static_cast<const char*>(from.raw()) + from_slice * bytes,
              static_cast<size_t>(bytes));
}

partial_shape without_first_axis(const shape& dims) {
  return partial_shape{std::vector<int64_t>(dims.begin() + 1, dims.end())};
}

// Ends those requests of a waiting line that the predicate picks.
template <class Line, class Which>
void give_up(Line& line, Which which, const status& why, fifo_queue::completions& done) {
  for (const auto& one : line)
    if (which(one))
      done.push_back({one.who, why});
  std::erase_if(line, which);
}

} // namespace

template <class... Ts>
status fifo_queue::wrong(const Ts&... parts) const {
  return invalid("queue '", options_.name, "': ", parts...);
}

result<fifo_queue> fifo_queue::make(queue_options options, allocator& from) {
  fifo_queue made{std::move(options), from};
  const auto& [name, capacity, types, shapes] = made.options_;
  if (types.empty())
    return made.wrong("an element needs at least one component");
  if (!shapes.empty() && shapes.size() != types.size())
    return made.wrong("has ", types.size(), " component types, but ", shapes.size(), " shapes");
  return made;
}

status fifo_queue::closed_error() const {
  return failure(error_kind::cancelled, "queue '", options_.name, "' is closed");
}

status fifo_queue::check(const element& given, bool many) const {
  const auto& types = options_.types;
  if (given.size() != types.size())
    return wrong("takes ", types.size(), " components, got ", given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& one = given[i];
    if (one.type() != types[i])
      return wrong("component ", i, " must be ", types[i], ", got ", one.type());
    if (many && one.rank() == 0)
      return wrong("component ", i, " of a batch must have a first axis, got shape ", one.dims());
    if (many && one.dims()[0] != given[0].dims()[0])
      return wrong("component ", i, " has ", one.dims()[0], " elements, component 0 has ",
                   given[0].dims()[0]);
    if (options_.shapes.empty())
      continue;
    auto dims = many ? without_first_axis(one.dims()) : partial_shape{one.dims()};
    if (!options_.shapes[i].compatible(dims))
      return wrong("component ", i, " must have shape ", options_.shapes[i], ", got ", dims);
  }
  return {};
}

void fifo_queue::enqueue(queue_request who, std::vector<tensor> element, completions& done) {
  if (auto fits = check(element, false); !fits) {
    done.push_back({who, std::move(fits)});
    return;
  }
  if (closed_) {
    done.push_back({who, closed_error()});
    return;
  }
  enqueues_.push_back({.who = who, .tensors = std::move(element)});
  settle(done);
}

void fifo_queue::enqueue_many(queue_request who, std::vector<tensor> batch, completions& done) {
  if (auto fits = check(batch, true); !fits) {
    done.push_back({who, std::move(fits)});
    return;
  }
  auto count = batch[0].dims()[0];
  if (count == 0) { // waits for nothing, not even for its turn
    done.push_back({who, {}});
    return;
  }
  if (closed_) {
    done.push_back({who, closed_error()});
    return;
  }
  enqueues_.push_back({.who = who, .tensors = std::move(batch), .many = true, .count = count});
  settle(done);
}

void fifo_queue::dequeue(queue_request who, completions& done) {
  dequeues_.push_back({.who = who});
  settle(done);
}

void fifo_queue::dequeue_many(queue_request who, int64_t count, completions& done) {
  if (count < 0) {
    done.push_back({who, wrong("cannot take out ", count, " elements")});
    return;
  }
  if (count == 0) {
    auto nothing = gather(0);
    if (nothing)
      done.push_back({who, {}, *std::move(nothing)});
    else
      done.push_back({who, nothing.status()});
    return;
  }
  dequeues_.push_back({.who = who, .many = true, .count = count});
  settle(done);
}

void fifo_queue::close(bool cancel_pending, completions& done) {
  closed_ = true;
  if (cancel_pending)
    give_up(
        enqueues_, [](const auto&) { return true; }, closed_error(), done);
  settle(done);
}

void fifo_queue::put_back(std::vector<tensor> given, bool many, completions& done) {
  if (given.size() != options_.types.size())
    return; // it was none of ours
  auto count = many ? given[0].dims()[0] : 1;
  pending_enqueue all{.who = {}, .tensors = std::move(given), .many = many, .count = count};
  for (all.next = count; all.next-- > 0;)
    if (auto one = slice(all))
      elements_.push_front(*std::move(one));
  settle(done);
}

void fifo_queue::reset(const status& why, completions& done) {
  auto all = [](const auto&) { return true; };
  give_up(enqueues_, all, why, done);
  give_up(dequeues_, all, why, done);
  elements_.clear();
  closed_ = false;
}

void fifo_queue::cancel(step_id step, const status& why, completions& done) {
  auto of_step = [&](const auto& one) { return one.who.step == step; };
  give_up(enqueues_, of_step, why, done);
  give_up(dequeues_, of_step, why, done);
  settle(done);
}

void fifo_queue::cancel(queue_request who, const status& why, completions& done) {
  auto same = [&](const auto& one) { return one.who == who; };
  give_up(enqueues_, same, why, done);
  give_up(dequeues_, same, why, done);
  settle(done);
}

// Elements never leave the deque before their dequeue is complete, so giving up a dequeue needs no
// repair. A batch larger than the capacity could not be completed that way; it lifts the limit
// while it is next.
bool fifo_queue::has_room() const noexcept {
  auto limit = dequeues_.empty() ? 0 : dequeues_.front().count;
  return options_.capacity < 0 || size() < std::max(options_.capacity, limit);
}

bool fifo_queue::admit(completions& done) {
  if (enqueues_.empty() || !has_room())
    return false;
  auto& first = enqueues_.front();
  auto next = slice(first);
  if (next)
    elements_.push_back(*std::move(next));
  if (next && ++first.next < first.count)
    return true;
  done.push_back({first.who, next.status()});
  enqueues_.pop_front();
  return true;
}

bool fifo_queue::serve(completions& done) {
  if (dequeues_.empty())
    return false;
  auto [who, many, count] = dequeues_.front();
  if (size() < count) {
    if (!closed_ || !enqueues_.empty())
      return false;
    done.push_back({who, failure(error_kind::out_of_range, "queue '", options_.name,
                                 "' is closed and has too few elements (wanted ", count, ", has ",
                                 size(), ")")});
  } else if (!many) {
    done.push_back({who, {}, std::move(elements_.front())});
    elements_.pop_front();
  } else if (auto batch = gather(count)) {
    done.push_back({who, {}, *std::move(batch)});
    elements_.erase(elements_.begin(), elements_.begin() + count);
  } else {
    done.push_back({who, batch.status()});
  }
  dequeues_.pop_front();
  return true;
}

void fifo_queue::settle(completions& done) {
  while (admit(done) || serve(done)) {
  }
}

result<fifo_queue::element> fifo_queue::slice(const pending_enqueue& from) const {
  if (!from.many)
    return from.tensors;
  element made;
  for (const auto& batch : from.tensors) {
    shape dims;
    for (int axis = 1; axis < batch.rank(); ++axis)
      dims.push_back(batch.dims()[axis]);
    auto one = tensor::make(batch.type(), dims, *memory_);
    if (!one)
      return one.status().within(concat("queue '", options_.name, "'"));
    copy_slice(batch, from.next, *one, 0, dims.elements());
    made.push_back(*std::move(one));
  }
  return made;
}

result<fifo_queue::element> fifo_queue::gather(int64_t count) const {
  element joined;
  for (size_t i = 0; i < options_.types.size(); ++i) {
    if (count == 0 && (options_.shapes.empty() || !options_.shapes[i].fully_known()))
      return wrong("component ", i, ": an empty batch needs a queue whose shapes are known");
    auto like = count == 0 ? options_.shapes[i].known() : elements_.front()[i].dims();
    for (int64_t k = 1; k < count; ++k)
      if (const auto& other = elements_[static_cast<size_t>(k)][i].dims(); other != like)
        return wrong("component ", i, " has elements of shapes ", like, " and ", other,
                     ", which do not fit into one batch");
    std::vector<int64_t> extents{count};
    extents.insert(extents.end(), like.begin(), like.end());
    auto dims = shape::make(extents);
    if (!dims)
      return dims.status().within(concat("queue '", options_.name, "': component ", i));
    auto batch = tensor::make(options_.types[i], *dims, *memory_);
    if (!batch)
      return batch.status().within(concat("queue '", options_.name, "'"));
    for (int64_t k = 0; k < count; ++k)
      copy_slice(elements_[static_cast<size_t>(k)][i], 0, *batch, k, like.elements());
    joined.push_back(*std::move(batch));
  }
  return joined;
}

} // namespace troupe
