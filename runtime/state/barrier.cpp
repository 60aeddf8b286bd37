#include "troupe/runtime/state/barrier.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/state/slices.hpp"

#include <algorithm>

namespace troupe {

template <class... Ts>
status barrier::wrong(const Ts&... parts) const {
  return invalid("barrier '", name(), "': ", parts...);
}

barrier::barrier(barrier_options options, allocator& memory)
    : waitable_resource(options.name), options_(std::move(options)), memory_(&memory) {}

result<std::unique_ptr<barrier>> barrier::make(barrier_options options, allocator& memory) {
  std::unique_ptr<barrier> created{new barrier{std::move(options), memory}};
  const auto& declared = created->options_;
  if (declared.types.empty())
    return created->wrong("an element needs at least one component");
  if (!declared.shapes.empty() && declared.shapes.size() != declared.types.size())
    return created->wrong("has ", declared.types.size(), " component types, but ",
                          declared.shapes.size(), " shapes");
  return created;
}

status barrier::check(const tensor& keys, const tensor& values, int64_t component) const {
  if (component < 0 || component >= static_cast<int64_t>(options_.types.size()))
    return wrong("component_index must be 0 to ", options_.types.size() - 1, ", got ", component);
  auto index = static_cast<size_t>(component);
  if (keys.type() != dtype::string || keys.rank() != 1)
    return wrong("keys must be a vector of strings, got ", keys);
  if (values.type() != options_.types[index])
    return wrong("component ", component, " must be ", options_.types[index], ", got ",
                 values.type());
  if (values.rank() < 1 || values.dims()[0] != keys.elements())
    return wrong("has ", keys.elements(), " keys for values of shape ", values.dims());
  if (!options_.shapes.empty() &&
      !options_.shapes[index].compatible(without_first_axis(values.dims())))
    return wrong("component ", component, " must have shape ", options_.shapes[index], ", got ",
                 without_first_axis(values.dims()));
  return {};
}

void barrier::insert_many(request_id request, const tensor& keys, tensor values, int64_t component,
                          answers& done) {
  if (auto fits = check(keys, values, component); !fits) {
    done.push_back({request, std::move(fits)});
    return;
  }
  inserts_.push_back({request, keys, std::move(values), static_cast<size_t>(component)});
  serve_waiting(done);
}

status barrier::insert(const pending_insert& insertion) {
  auto keys = insertion.keys.values<std::string>();
  if (cancelled_)
    return failure(error_kind::cancelled, "barrier '", name(), "' is closed");
  // Does all that may fail first, so that a failure changes nothing.
  std::vector<tensor> slices;
  std::vector<std::string> sorted{keys.begin(), keys.end()};
  std::ranges::sort(sorted);
  if (auto duplicate = std::ranges::adjacent_find(sorted); duplicate != sorted.end())
    return wrong("key '", *duplicate, "' occurs twice in one insertion of component ",
                 insertion.component);
  for (size_t i = 0; i < keys.size(); ++i) {
    auto known = incomplete_.find(keys[i]);
    if (known == incomplete_.end() && closed_)
      return failure(error_kind::cancelled, "barrier '", name(), "' is closed, and key '", keys[i],
                     "' is new");
    if (known != incomplete_.end() && !known->second.components[insertion.component].empty())
      return wrong("key '", keys[i], "' has a value for component ", insertion.component,
                   " already");
    TROUPE_ASSIGN(auto slice, slice_of(insertion.values, static_cast<int64_t>(i), *memory_));
    slices.push_back(std::move(slice));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    auto [position, is_new] = incomplete_.try_emplace(keys[i]);
    auto& entry_of_key = position->second;
    if (is_new) {
      entry_of_key = {.number = next_number_++,
                      .insertion = next_insertion_,
                      .key = keys[i],
                      .components = {},
                      .missing = options_.types.size()};
      entry_of_key.components.resize(options_.types.size());
    }
    entry_of_key.components[insertion.component] = std::move(slices[i]);
    if (--entry_of_key.missing > 0)
      continue;
    auto number = entry_of_key.number;
    ready_.emplace(number, std::move(entry_of_key));
    incomplete_.erase(position);
  }
  ++next_insertion_;
  return {};
}

bool barrier::has_room() const noexcept {
  auto wanted = takes_.empty() ? 0 : takes_.front().options.count;
  return options_.capacity < 0 || ready() < std::max(options_.capacity, wanted);
}

bool barrier::admit(answers& done) {
  if (inserts_.empty() || !(has_room() || cancelled_))
    return false;
  auto first = std::move(inserts_.front());
  inserts_.pop_front();
  done.push_back({first.id, insert(first)});
  return true;
}

result<std::vector<tensor>> barrier::join(const std::vector<entry>& entries) const {
  auto count = static_cast<int64_t>(entries.size());
  TROUPE_ASSIGN(auto insertions, tensor::make(dtype::i64, shape{count}, *memory_));
  TROUPE_ASSIGN(auto keys, tensor::make(dtype::string, shape{count}, *memory_));
  for (size_t i = 0; i < entries.size(); ++i) {
    insertions.data<int64_t>()[i] = entries[i].insertion;
    keys.data<std::string>()[i] = entries[i].key;
  }
  std::vector<tensor> joined{std::move(insertions), std::move(keys)};
  std::vector<const tensor*> parts(entries.size());
  for (size_t c = 0; c < options_.types.size(); ++c) {
    std::ranges::transform(entries, parts.begin(),
                           [c](auto& complete) { return &complete.components[c]; });
    auto batch = stack(parts,
                       {.type = options_.types[c],
                        .dims = options_.shapes.empty() ? partial_shape{} : options_.shapes[c]},
                       *memory_);
    if (!batch)
      return batch.status().with_context(concat("barrier '", name(), "': component ", c));
    joined.push_back(*std::move(batch));
  }
  return joined;
}

void barrier::take_many(request_id request, take_options options, answers& done) {
  if (options.count < 0) {
    done.push_back(
        {request, wrong("the number of elements must not be negative, got ", options.count)});
    return;
  }
  if (options.count == 0) {
    auto empty_batch = join({});
    done.push_back(
        {request, empty_batch.status(), empty_batch ? *empty_batch : std::vector<tensor>{}});
    return;
  }
  takes_.push_back({request, options});
  serve_waiting(done);
}

bool barrier::serve(answers& done) {
  if (takes_.empty())
    return false;
  auto [request, options] = takes_.front();
  auto count = options.count;
  if (ready() < count) {
    if (!no_more())
      return false;
    count = options.allow_small_batch ? ready() : 0;
    if (count == 0) {
      done.push_back({request, failure(error_kind::out_of_range, "barrier '", name(),
                                       "' is closed and has too few elements (wanted ",
                                       options.count, ", has ", ready(), ")")});
      takes_.pop_front();
      return true;
    }
  }
  takes_.pop_front();
  std::vector<entry> entries;
  for (auto next = ready_.begin(); count > 0; --count, next = ready_.erase(next))
    entries.push_back(std::move(next->second));
  auto outcome = guarded("taking elements out", [&] { return join(entries); });
  if (!outcome)
    for (auto& returned : entries)
      ready_.emplace(returned.number, std::move(returned));
  else if (options.return_on_failure)
    taken_[request.step].insert(taken_[request.step].end(), std::move_iterator{entries.begin()},
                                std::move_iterator{entries.end()});
  done.push_back(
      {request, outcome.status(), outcome ? *std::move(outcome) : std::vector<tensor>{}});
  return true;
}

void barrier::serve_waiting(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

void barrier::close(bool cancel_pending, answers& done) {
  closed_ = true;
  cancelled_ |= cancel_pending;
  if (cancelled_)
    incomplete_.clear();
  serve_waiting(done);
}

status barrier::declare_again(const waitable_resource& other) const {
  const auto& redeclared = static_cast<const barrier&>(other).options_;
  auto shapes_fit = options_.shapes.empty() || redeclared.shapes.empty() ||
                    std::ranges::equal(options_.shapes, redeclared.shapes,
                                       [](auto& x, auto& y) { return x.compatible(y); });
  if (redeclared.types != options_.types || redeclared.capacity != options_.capacity || !shapes_fit)
    return invalid("barrier '", name(), "' exists with other components or another capacity (",
                   options_.types.size(), " components, ", options_.capacity,
                   "), and is declared again (", redeclared.types.size(), ", ", redeclared.capacity,
                   ")");
  return {};
}

void barrier::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(inserts_, selected, reason, done);
  fail_requests(takes_, selected, reason, done);
  serve_waiting(done);
}

void barrier::end_step(step_id step, bool failed, answers& done) {
  auto taken = taken_.extract(step);
  if (taken.empty() || !failed)
    return;
  for (auto& returned : taken.mapped())
    ready_.emplace(returned.number, std::move(returned));
  serve_waiting(done);
}

void barrier::reset(const status& reason, answers& done) {
  auto every_request = request_filter::every();
  fail_requests(inserts_, every_request, reason, done);
  fail_requests(takes_, every_request, reason, done);
  incomplete_.clear();
  ready_.clear();
  taken_.clear();
  next_number_ = 0;
  next_insertion_ = first_insertion;
  closed_ = cancelled_ = false;
}

std::string barrier::describe() const {
  auto text = concat(ready(), " complete elements, ", incomplete(), " incomplete");
  if (!inserts_.empty())
    text += concat(", ", inserts_.size(), " inserts wait");
  if (!takes_.empty())
    text += concat(", ", takes_.size(), " takes wait");
  return text + (closed_ ? ", closed" : "");
}

std::string barrier::element_type_text() const {
  return describe_components(options_.types, options_.shapes);
}

uint64_t barrier::bytes() const {
  uint64_t total = 0;
  for (const auto& [key, incomplete_entry] : incomplete_)
    total += bytes_of(incomplete_entry.components);
  for (const auto& [number, complete_entry] : ready_)
    total += bytes_of(complete_entry.components);
  return total;
}

} // namespace troupe
