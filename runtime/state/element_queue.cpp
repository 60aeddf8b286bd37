#include "troupe/runtime/state/element_queue.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/runtime/state/element_bytes.hpp"
#include "troupe/runtime/state/slices.hpp"

#include <algorithm>

namespace troupe {
namespace {

std::unique_ptr<element_store> store_for(const queue_options& options) {
  switch (options.order) {
    case queue_order::shuffled:
      return std::make_unique<shuffle_store>(options.min_after_dequeue, options.seed);
    case queue_order::by_priority: return std::make_unique<priority_store>();
    case queue_order::fifo: break;
  }
  return std::make_unique<fifo_store>();
}

constexpr std::string_view state_format = "troupe queue 1";

} // namespace

template <class... Ts>
status element_queue::wrong(const Ts&... parts) const {
  return invalid("queue '", name(), "': ", parts...);
}

element_queue::element_queue(queue_options options, allocator& memory)
    : waitable_resource(options.name), options_(std::move(options)), memory_(&memory),
      store_(store_for(options_)) {}

result<std::unique_ptr<element_queue>> element_queue::make(queue_options options,
                                                           allocator& memory) {
  std::unique_ptr<element_queue> created{new element_queue{std::move(options), memory}};
  const auto& declared = created->options_;
  if (declared.types.empty())
    return created->wrong("an element needs at least one component");
  if (!declared.shapes.empty() && declared.shapes.size() != declared.types.size())
    return created->wrong("has ", declared.types.size(), " component types, but ",
                          declared.shapes.size(), " shapes");
  if (declared.pads &&
      (declared.shapes.empty() ||
       !std::ranges::all_of(declared.shapes, [](auto& dims) { return dims.has_rank(); })))
    return created->wrong("pads its elements, and needs the rank of each component");
  if (declared.order == queue_order::by_priority &&
      (declared.types.front() != dtype::i64 ||
       (!declared.shapes.empty() && !declared.shapes.front().compatible(shape{}))))
    return created->wrong("the first component must be an i64 scalar, the priority");
  if (declared.min_after_dequeue < 0)
    return created->wrong("min_after_dequeue must not be negative, got ",
                          declared.min_after_dequeue);
  if (declared.capacity >= 0 && declared.min_after_dequeue > 0 &&
      declared.min_after_dequeue >= declared.capacity)
    return created->wrong("min_after_dequeue (", declared.min_after_dequeue,
                          ") must be less than the capacity (", declared.capacity, ")");
  return created;
}

status element_queue::closed_error() const {
  return failure(error_kind::cancelled, "queue '", name(), "' is closed");
}

status element_queue::suspended_error() const {
  return failure(error_kind::cancelled, "queue '", name(), "' is suspended while it is saved");
}

status element_queue::check(const element& components, bool is_batch) const {
  const auto& types = options_.types;
  if (components.size() != types.size())
    return wrong("takes ", types.size(), " components, got ", components.size());
  for (size_t i = 0; i < components.size(); ++i) {
    const auto& component = components[i];
    if (component.type() != types[i])
      return wrong("component ", i, " must be ", types[i], ", got ", component.type());
    if (is_batch && component.rank() == 0)
      return wrong("component ", i, " of a batch must have a first axis, got shape ",
                   component.dims());
    if (is_batch && component.dims()[0] != components[0].dims()[0])
      return wrong("component ", i, " has ", component.dims()[0], " elements, component 0 has ",
                   components[0].dims()[0]);
    auto dims = is_batch ? without_first_axis(component.dims()) : component.dims();
    if (i == 0 && options_.order == queue_order::by_priority && dims.rank() != 0)
      return wrong("component 0, the priority, must be a scalar, got ", dims);
    if (!options_.shapes.empty() && !options_.shapes[i].compatible(dims))
      return wrong("component ", i, " must have shape ", options_.shapes[i], ", got ", dims);
  }
  return {};
}

void element_queue::add(pending_enqueue enqueued, answers& done) {
  auto outcome = check(enqueued.tensors, enqueued.is_batch);
  if (outcome && enqueued.is_batch) {
    enqueued.count = enqueued.tensors[0].dims()[0];
    if (enqueued.count == 0) { // an empty batch does not wait, not even for earlier requests
      done.push_back({enqueued.id, {}});
      return;
    }
  }
  if (outcome && closed_)
    outcome = closed_error();
  if (!outcome) {
    done.push_back({enqueued.id, std::move(outcome)});
    return;
  }
  if (!enqueued.is_batch && enqueues_.empty() && has_room()) { // like admit(), without a copy
    store_->put({next_number_++, std::move(enqueued.tensors)});
    done.push_back({enqueued.id, {}});
  } else {
    enqueues_.push_back(std::move(enqueued));
  }
  serve_waiting(done);
}

void element_queue::enqueue(request_id request, element components, answers& done) {
  add({.id = request, .tensors = std::move(components)}, done);
}

void element_queue::enqueue_many(request_id request, element batch, answers& done) {
  add({.id = request, .tensors = std::move(batch), .is_batch = true}, done);
}

void element_queue::dequeue(request_id request, dequeue_options options, answers& done) {
  if (options.count < 0) {
    done.push_back(
        {request, wrong("the number of elements must not be negative, got ", options.count)});
  } else if (options.count == 0) {
    auto empty_batch = join({});
    if (empty_batch)
      done.push_back({request, {}, *std::move(empty_batch)});
    else
      done.push_back({request, empty_batch.status()});
  } else {
    dequeues_.push_back({request, options});
    serve_waiting(done);
  }
}

void element_queue::close(bool cancel_pending, answers& done) {
  closed_ = true;
  if (cancel_pending)
    fail_requests(enqueues_, request_filter::every(), closed_error(), done);
  serve_waiting(done);
}

void element_queue::reset(const status& reason, answers& done) {
  auto every_request = request_filter::every();
  fail_requests(enqueues_, every_request, reason, done);
  fail_requests(dequeues_, every_request, reason, done);
  store_->clear();
  taken_.clear();
  closed_ = suspended_ = false;
}

void element_queue::suspend(bool suspended, answers& done) {
  suspended_ = suspended;
  serve_waiting(done);
}

result<std::string> element_queue::state() const {
  auto stored = store_->copy_elements();
  for (const auto& [step, taken] : taken_)
    stored.insert(stored.end(), taken.begin(), taken.end());
  // The random numbers of a shuffled queue select positions, so its order must stay.
  if (options_.order != queue_order::shuffled)
    std::ranges::sort(stored, {}, &numbered_element::number);
  element_writer writer;
  writer.add(state_format);
  writer.add(uint64_t{closed_});
  writer.add(store_->position());
  writer.add(uint64_t{stored.size()});
  for (const auto& numbered : stored)
    for (const auto& component : numbered.tensors)
      TROUPE_TRY(writer.add(component).with_context(concat("queue '", name(), "'")));
  return writer.take();
}

status element_queue::restore(std::string_view state, answers& done) {
  element_reader reader{state};
  auto format = reader.text();
  auto closed = reader.number(), position = reader.number(), count = reader.number();
  // An element takes at least one byte.
  if (!format || *format != state_format || !closed || !position || !count ||
      *count > reader.bytes_left())
    return wrong(state.size(), " bytes are not the state of a queue");
  std::vector<element> restored;
  for (uint64_t i = 0; i < *count; ++i) {
    element next;
    for (size_t component = 0; component < options_.types.size(); ++component) {
      auto value = reader.read(*memory_);
      if (!value)
        return value.status().with_context(concat("queue '", name(), "'"));
      next.push_back(*std::move(value));
    }
    TROUPE_TRY(check(next, false));
    restored.push_back(std::move(next));
  }
  if (reader.bytes_left() != 0)
    return wrong("its state has ", reader.bytes_left(), " bytes too many");
  // A waiting enqueue precedes the restore: its element is dropped with the others.
  for (const auto& pending : enqueues_)
    done.push_back({pending.id, {}});
  enqueues_.clear();
  store_->clear();
  taken_.clear();
  for (auto& components : restored)
    store_->put({next_number_++, std::move(components)});
  store_->restore_position(*position);
  closed_ = *closed != 0;
  suspended_ = false;
  serve_waiting(done);
  return {};
}

void element_queue::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(enqueues_, selected, reason, done);
  fail_requests(dequeues_, selected, reason, done);
  serve_waiting(done);
}

void element_queue::end_step(step_id step, bool failed, answers& done) {
  auto taken = taken_.extract(step);
  if (taken.empty() || !failed)
    return;
  TROUPE_REACHED("elements of a failed step go back to their queue");
  for (auto& returned : taken.mapped())
    store_->put(std::move(returned));
  serve_waiting(done);
}

int64_t element_queue::available() const noexcept {
  return std::max<int64_t>(0, size() - (closed_ ? 0 : store_->reserved()));
}

// A dequeue of more elements than the capacity could never complete: it lifts the limit while it is
// the next to be served.
bool element_queue::has_room() const noexcept {
  if (suspended_ || options_.capacity < 0 || size() < options_.capacity)
    return true;
  // The reserve is less than the capacity.
  return !dequeues_.empty() && size() - store_->reserved() < dequeues_.front().options.count;
}

bool element_queue::admit(answers& done) {
  if (enqueues_.empty() || !has_room())
    return false;
  auto& first = enqueues_.front();
  auto next = slice(first);
  if (next)
    store_->put({next_number_++, *std::move(next)});
  if (next && ++first.next < first.count)
    return true;
  done.push_back({first.id, next.status()});
  enqueues_.pop_front();
  return true;
}

bool element_queue::serve(answers& done) {
  if (dequeues_.empty())
    return false;
  auto [request, options] = dequeues_.front();
  if (suspended_) {
    done.push_back({request, suspended_error()});
    dequeues_.pop_front();
    return true;
  }
  auto count = options.count;
  if (available() < count) {
    if (!closed_ || !enqueues_.empty())
      return false;
    if (options.up_to)
      count = size();
    if (!options.up_to || count == 0) {
      done.push_back({request, failure(error_kind::out_of_range, "queue '", name(),
                                       "' is closed and has too few elements (wanted ",
                                       options.count, ", has ", size(), ")")});
      dequeues_.pop_front();
      return true;
    }
  }
  dequeues_.pop_front();
  elements dequeued;
  for (int64_t i = 0; i < count; ++i)
    dequeued.push_back(store_->take());
  // If the batch does not fit into memory, the elements go back.
  auto outcome = guarded("taking elements out", [&]() -> result<element> {
    if (options.as_batch)
      return join(dequeued);
    auto& components = dequeued.front().tensors;
    return options.return_on_failure ? components : std::move(components);
  });
  if (!outcome) {
    for (auto& returned : dequeued)
      store_->put(std::move(returned));
    done.push_back({request, outcome.status()});
    return true;
  }
  if (options.return_on_failure) {
    auto& taken = taken_[request.step];
    taken.insert(taken.end(), std::move_iterator{dequeued.begin()},
                 std::move_iterator{dequeued.end()});
  }
  dequeued.clear();
  done.push_back({request, {}, *std::move(outcome)});
  return true;
}

void element_queue::serve_waiting(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

result<element> element_queue::slice(const pending_enqueue& enqueued) const {
  if (!enqueued.is_batch)
    return enqueued.tensors;
  element components;
  for (const auto& batch : enqueued.tensors) {
    auto component = slice_of(batch, enqueued.next, *memory_);
    if (!component)
      return component.status().with_context(concat("queue '", name(), "'"));
    components.push_back(*std::move(component));
  }
  return components;
}

result<element> element_queue::join(const elements& dequeued) const {
  element joined;
  std::vector<const tensor*> parts(dequeued.size());
  for (size_t i = 0; i < options_.types.size(); ++i) {
    std::ranges::transform(dequeued, parts.begin(),
                           [i](auto& numbered) { return &numbered.tensors[i]; });
    auto batch = stack(parts,
                       {.type = options_.types[i],
                        .dims = options_.shapes.empty() ? partial_shape{} : options_.shapes[i],
                        .pad = options_.pads},
                       *memory_);
    if (!batch)
      return batch.status().with_context(concat("queue '", name(), "': component ", i));
    joined.push_back(*std::move(batch));
  }
  return joined;
}

status element_queue::declare_again(const waitable_resource& other) const {
  auto described = [](const queue_options& options) {
    constexpr std::string_view orders[] = {"", ", shuffled", ", by priority"};
    auto text = concat(describe_components(options.types, options.shapes), " of capacity ",
                       options.capacity, orders[static_cast<size_t>(options.order)],
                       options.pads ? ", padded" : "");
    if (options.order == queue_order::shuffled)
      text += concat(", min_after_dequeue ", options.min_after_dequeue,
                     options.declared_seed ? concat(", seed ", options.seed) : "");
    return text;
  };
  // Declarations may know more or less of a shape: a dequeue checks the elements that it gets.
  auto shapes_fit = [](const std::vector<partial_shape>& a, const std::vector<partial_shape>& b) {
    return a.empty() || b.empty() ||
           std::ranges::equal(a, b, [](auto& x, auto& y) { return x.compatible(y); });
  };
  const auto& redeclared = static_cast<const element_queue&>(other).options_;
  const auto& existing = options_;
  auto seeds_fit =
      !existing.declared_seed || !redeclared.declared_seed || existing.seed == redeclared.seed;
  if (redeclared.capacity != existing.capacity || redeclared.types != existing.types ||
      redeclared.order != existing.order || redeclared.pads != existing.pads ||
      redeclared.min_after_dequeue != existing.min_after_dequeue || !seeds_fit ||
      !shapes_fit(redeclared.shapes, existing.shapes))
    return invalid("queue '", name(), "' exists as ", described(existing),
                   ", and is declared again as ", described(redeclared));
  return {};
}

std::string element_queue::describe() const {
  auto text =
      concat(size(), options_.capacity < 0 ? "" : concat(" of ", options_.capacity), " elements");
  if (!taken_.empty())
    text += concat(", ", taken_.size(), " steps have taken some");
  if (!enqueues_.empty())
    text += concat(", ", enqueues_.size(), " enqueues wait");
  if (!dequeues_.empty())
    text += concat(", ", dequeues_.size(), " dequeues wait");
  return text + (closed_ ? ", closed" : "") + (suspended_ ? ", suspended" : "");
}

std::string element_queue::element_type_text() const {
  return describe_components(options_.types, options_.shapes);
}

uint64_t element_queue::bytes() const { return store_->bytes(); }

} // namespace troupe
