#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include "troupe/serialization/storage/slices.hpp"
#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace troupe {
namespace {

constexpr std::string_view manifest_file = "manifest.json", tensors_file = "tensors.safetensors",
                           latest_file = "latest", index_ending = ".index", step_prefix = "step-";

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{})
    return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "step-1200", or "step-1200-2" for the second checkpoint of that step.
struct step_name {
  int64_t step = 0, time = 1;
  auto operator<=>(const step_name&) const = default;
};
std::optional<step_name> step_of(std::string_view name) {
  if (!name.starts_with(step_prefix))
    return {};
  name.remove_prefix(step_prefix.size());
  step_name parsed;
  auto step = take_number(name);
  if (!step)
    return {};
  parsed.step = *step;
  if (name.empty())
    return parsed;
  if (!name.starts_with('-'))
    return {};
  name.remove_prefix(1);
  auto time = take_number(name);
  if (!time || !name.empty())
    return {};
  parsed.time = *time;
  return parsed;
}

bool is_missing(const status& error) { return error.kind() == error_kind::not_found; }

} // namespace

// -- reading -------------------------------------------------------------------------------------

result<checkpoint_reader> checkpoint_reader::open(file_system& files, const std::string& path) {
  checkpoint_reader reader;
  reader.path_ = path;
  TROUPE_ASSIGN(reader.manifest_, read_manifest(files, path_in(path, manifest_file)));
  for (const auto& entry : reader.manifest_.tensors) {
    if (entry.file.ends_with(index_ending)) {
      if (reader.bundles_.contains(entry.file))
        continue;
      auto prefix = entry.file.substr(0, entry.file.size() - index_ending.size());
      TROUPE_ASSIGN(auto bundle, tensor_bundle_reader::open(files, path_in(path, prefix)));
      reader.bundles_[entry.file] = std::make_unique<tensor_bundle_reader>(std::move(bundle));
      continue;
    }
    auto& shard = reader.shards_[entry.file];
    if (shard)
      continue;
    TROUPE_ASSIGN(auto opened, safetensors_reader::open(files, path_in(path, entry.file)));
    shard = std::make_unique<safetensors_reader>(std::move(opened));
  }
  return reader;
}

std::vector<const manifest_tensor*> checkpoint_reader::parts_of(std::string_view name) const {
  std::vector<const manifest_tensor*> parts;
  for (const auto& entry : manifest_.tensors)
    if (entry.name == name)
      parts.push_back(&entry);
  return parts;
}

std::optional<std::pair<dtype, shape>> checkpoint_reader::find(std::string_view name) const {
  auto parts = parts_of(name);
  if (parts.empty())
    return {};
  const auto& first = *parts.front();
  return std::pair{first.type, first.slice ? first.slice->full_shape : first.dims};
}

// Finds the entry of a tensor in a bundle, and compares it with the manifest, which has a checksum.
static result<const bundle_entry*> entry_of(const tensor_bundle_reader& bundle,
                                            const manifest_tensor& expected,
                                            const std::string& path) {
  const auto* stored = bundle.find(expected.stored_as);
  if (!stored || stored->type != expected.type || stored->dims != expected.dims ||
      stored->bytes != expected.bytes || stored->checksum != expected.checksum)
    return failure(error_kind::data_loss, path_in(path, expected.file), ": tensor '", expected.name,
                   "' differs from the manifest: its bytes have changed");
  return stored;
}

result<tensor> checkpoint_reader::read_entry(const manifest_tensor& entry,
                                             allocator& memory) const {
  auto bundle = bundles_.find(entry.file);
  if (bundle == bundles_.end())
    return read_stored(*shards_.at(entry.file), entry, memory);
  TROUPE_TRY(entry_of(*bundle->second, entry, path_).status());
  return bundle->second->read(entry.stored_as, memory);
}

result<tensor> checkpoint_reader::read(std::string_view name, allocator& memory) const {
  auto info = find(name);
  if (!info)
    return no_such_tensor(path_, name, manifest_.tensors);
  auto parts = parts_of(name);
  if (!parts.front()->slice)
    return read_entry(*parts.front(), memory);
  std::vector<int64_t> origin(static_cast<size_t>(info->second.rank()), 0);
  return read_part(name, origin, info->second, memory);
}

result<tensor> checkpoint_reader::read_part(std::string_view name,
                                            const std::vector<int64_t>& offset, const shape& dims,
                                            allocator& memory) const {
  auto info = find(name);
  if (!info)
    return no_such_tensor(path_, name, manifest_.tensors);
  if (auto fits = check_slice(info->second, offset, dims); !fits)
    return std::move(fits).with_context(concat(path_, ": tensor '", name, "'"));
  if (auto bundle = bundles_.find(parts_of(name).front()->file); bundle != bundles_.end()) {
    const auto& entry = *parts_of(name).front();
    TROUPE_TRY(entry_of(*bundle->second, entry, path_).status());
    return bundle->second->read_slice(entry.stored_as, offset, dims, memory);
  }
  TROUPE_ASSIGN(auto joined, tensor::make(info->first, dims, memory));
  for (const auto* part : parts_of(name)) {
    auto part_offset = part->slice ? part->slice->offset
                                   : std::vector<int64_t>(static_cast<size_t>(dims.rank()), 0);
    if (!slices_overlap(part_offset, part->dims, offset, dims))
      continue;
    TROUPE_ASSIGN(auto stored, read_entry(*part, memory));
    copy_overlap(stored, part_offset, joined, offset);
  }
  return joined;
}

status checkpoint_reader::verify() const {
  for (const auto& entry : manifest_.tensors)
    TROUPE_TRY(read_entry(entry, heap_allocator()).status());
  return {};
}

// -- writing -------------------------------------------------------------------------------------

std::vector<manifest_tensor> manifest_entries(const tensor_bundle_reader& bundle,
                                              const std::string& file) {
  std::vector<manifest_tensor> entries;
  for (const auto& stored : bundle.tensors())
    entries.push_back({.name = stored.name,
                       .type = stored.type,
                       .dims = stored.dims,
                       .file = file,
                       .stored_as = stored.name,
                       .bytes = stored.bytes,
                       .checksum = stored.checksum});
  return entries;
}

status add_item(tensor_bundle_writer& writer, const checkpoint_item& item) {
  return item.slice
             ? writer.add_slice(item.name, item.slice->full_shape, item.slice->offset, item.value)
             : writer.add(item.name, item.value);
}

static status write_bundle(file_system& files, const std::string& folder,
                           checkpoint_manifest& manifest,
                           const std::vector<checkpoint_item>& items) {
  auto prefix = path_in(folder, bundle_name);
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, prefix));
  for (const auto& item : items)
    TROUPE_TRY(add_item(writer, item));
  TROUPE_TRY(writer.finish());
  TROUPE_ASSIGN(auto written, tensor_bundle_reader::open(files, prefix));
  manifest.tensors = manifest_entries(written, concat(bundle_name, index_ending));
  return {};
}

status checkpoint_folder::write(const std::string& folder, checkpoint_manifest& manifest,
                                const std::vector<checkpoint_item>& items) {
  // A slice is stored under the name of the whole tensor and its offset.
  std::vector<std::pair<std::string, tensor>> tensors;
  std::map<std::string, const checkpoint_item*> by_name;
  for (const auto& item : items) {
    auto name = item.name;
    if (item.slice)
      for (auto position : item.slice->offset)
        name += concat('/', position);
    if (!by_name.emplace(name, &item).second)
      return invalid("two tensors are called '", name, "'");
    tensors.emplace_back(std::move(name), item.value);
  }
  TROUPE_ASSIGN(auto stored, write_safetensors(*files_, path_in(folder, tensors_file), tensors));
  for (const auto& written : stored) {
    const auto& item = *by_name.at(written.name);
    auto entry =
        manifest_entry(written, std::string{tensors_file}, item.value.type(), item.value.dims());
    entry.name = item.name;
    entry.slice = item.slice;
    entry.stored_as = written.name;
    manifest.tensors.push_back(std::move(entry));
  }
  return {};
}

result<std::string> checkpoint_folder::save(checkpoint_manifest manifest,
                                            const std::vector<checkpoint_item>& items,
                                            checkpoint_format format) {
  return save(std::move(manifest), [&](const std::string& folder, checkpoint_manifest& saved) {
    return format == checkpoint_format::tensorflow ? write_bundle(*files_, folder, saved, items)
                                                   : write(folder, saved, items);
  });
}

result<std::string> checkpoint_folder::save(checkpoint_manifest manifest,
                                            const tensor_writer& write_tensors) {
  TROUPE_TRY(make_folder_durably(*files_, path_));
  auto name = concat(step_prefix, manifest.step);
  for (int number = 2; files_->inspect(path_of(name)).ok(); ++number)
    name = concat(step_prefix, manifest.step, '-', number);
  auto draft = concat(draft_prefix, name, draft_suffix_);
  if (files_->inspect(path_of(draft)).ok())
    TROUPE_TRY(remove_folder(draft)); // of a dead process, or of a failed attempt
  TROUPE_TRY(files_->make_folder(path_of(draft)));
  auto outcome = [&]() -> status {
    TROUPE_TRY(write_tensors(path_of(draft), manifest));
    TROUPE_TRY(write_manifest(*files_, path_in(path_of(draft), manifest_file), manifest));
    return files_->sync_folder(path_of(draft));
  }();
  auto is_named = false, is_refused = false;
  auto commit = [&]() -> status {
    TROUPE_TRY(files_->rename(path_of(draft), path_of(name)));
    is_named = true;
    TROUPE_TRY(files_->sync_folder(path_));
    return replace_file(*files_, path_of(std::string{latest_file}), name);
  };
  if (outcome.ok()) {
    outcome = commit_guard_ ? commit_guard_(commit) : commit();
    is_refused = outcome.kind() == error_kind::already_exists;
  }
  if (!outcome) {
    // If another process has taken the folder over, the draft may belong to that process.
    if (!is_named && !is_refused)
      (void)remove_folder(draft);
    return outcome;
  }
  return name;
}

result<std::vector<checkpoint_folder::info>> checkpoint_folder::list() const {
  TROUPE_ASSIGN(auto entries, files_->list(path_));
  std::vector<info> complete;
  for (const auto& entry : entries)
    if (auto step = step_of(entry.name);
        entry.is_folder && step &&
        files_->inspect(path_in(path_of(entry.name), manifest_file)).ok())
      complete.push_back({entry.name, step->step});
  std::ranges::sort(complete, {}, [](const info& checkpoint) { return *step_of(checkpoint.name); });
  return complete;
}

result<std::string> checkpoint_folder::latest() const {
  TROUPE_ASSIGN(auto complete, list());
  if (auto named = read_whole(*files_, path_of(std::string{latest_file}), 4096); named)
    if (std::ranges::find(complete, *named, &info::name) != complete.end())
      return *std::move(named);
  if (complete.empty())
    return failure(error_kind::not_found, path_, ": has no complete checkpoint");
  return complete.back().name;
}

result<std::optional<checkpoint_folder::info>> checkpoint_folder::best(bool lower_is_better) const {
  TROUPE_ASSIGN(auto complete, list());
  TROUPE_ASSIGN(auto names, find_best({.best = 1, .lower_is_better = lower_is_better}, complete));
  auto chosen = std::ranges::find_if(
      complete, [&](const info& checkpoint) { return names.contains(checkpoint.name); });
  return chosen == complete.end() ? std::nullopt : std::optional{*chosen};
}

// Removes the manifest first: without it, the folder is not a checkpoint. Retries, because a
// process that lost the folder to this one may still remove files of its draft, or add some.
status checkpoint_folder::remove_folder(const std::string& name) {
  constexpr int max_attempts = 8;
  for (int attempt = 1;; ++attempt) {
    auto outcome = remove_files_and_folder(name);
    if (outcome.kind() != error_kind::failed_precondition || attempt == max_attempts)
      return outcome;
  }
}

// Fails with failed_precondition if a file was added in the meantime.
status checkpoint_folder::remove_files_and_folder(const std::string& name) {
  auto folder = path_of(name);
  auto entries = files_->list(folder);
  if (!entries)
    return is_missing(entries.status()) ? status{} : entries.status();
  auto remove = [&](const std::string& path) {
    auto outcome = files_->remove(path);
    return !outcome && is_missing(outcome) ? status{} : outcome;
  };
  std::ranges::stable_partition(*entries, [](auto& entry) { return entry.name == manifest_file; });
  for (const auto& entry : *entries) {
    TROUPE_TRY(remove(path_in(folder, entry.name)));
    if (entry.name == manifest_file)
      TROUPE_TRY(files_->sync_folder(folder));
  }
  return remove(folder);
}

// Reads a number of a manifest; returns nullopt if it has none with that key.
result<std::optional<double>> checkpoint_folder::number_of(const info& checkpoint,
                                                           std::string_view key) const {
  TROUPE_ASSIGN(auto manifest,
                read_manifest(*files_, path_in(path_of(checkpoint.name), manifest_file)));
  auto text = manifest.description.find(std::string{key});
  double value = 0;
  if (text == manifest.description.end() ||
      std::from_chars(text->second.data(), text->second.data() + text->second.size(), value).ec !=
          std::errc{} ||
      !std::isfinite(value))
    return std::optional<double>{};
  return std::optional{value};
}

// Finds the best checkpoints that have a metric; among equal ones, the newer.
result<std::set<std::string>>
checkpoint_folder::find_best(const checkpoint_retention& retention,
                             const std::vector<info>& complete) const {
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& checkpoint : complete) {
    TROUPE_ASSIGN(auto value, number_of(checkpoint, metric_key));
    if (value)
      ranked.emplace_back(retention.lower_is_better ? *value : -*value, checkpoint.name);
  }
  std::ranges::reverse(ranked);
  std::ranges::stable_sort(ranked, {}, &std::pair<double, std::string>::first);
  std::set<std::string> best;
  for (const auto& [value, name] : ranked)
    if (static_cast<int64_t>(best.size()) < retention.best)
      best.insert(name);
  return best;
}

status checkpoint_folder::retain(const checkpoint_retention& retention) {
  if (retention.newest <= 0)
    return {};
  // If `latest` exists but cannot be read, the highest step is no substitute: it may be that of a
  // failed save, which may not survive a crash.
  auto named = read_whole(*files_, path_of(std::string{latest_file}), 4096);
  if (!named && !is_missing(named.status()))
    return named.status();
  TROUPE_ASSIGN(auto complete, list());
  if (complete.empty())
    return {};
  auto is_known = named && std::ranges::find(complete, *named, &info::name) != complete.end();
  auto newest = is_known ? *named : complete.back().name;
  // Checkpoints of higher steps are of an earlier run, which this run does not continue.
  auto newest_position = std::ranges::find(complete, newest, &info::name);
  std::rotate(complete.begin(),
              newest_position == complete.end() ? newest_position : newest_position + 1,
              complete.end());
  auto removable = static_cast<int64_t>(complete.size()) - retention.newest;
  std::set<std::string> best;
  if (retention.best > 0) {
    TROUPE_ASSIGN(best, find_best(retention, complete));
  }
  std::set<int64_t> spans; // for each of which one checkpoint is retained
  std::set<double> hours;
  status outcome;
  for (const auto& checkpoint : complete) {
    if (removable-- <= 0)
      break;
    auto is_retained =
        retention.every_steps > 0 && spans.insert(checkpoint.step / retention.every_steps).second;
    if (retention.every_hours > 0) {
      TROUPE_ASSIGN(auto time, number_of(checkpoint, time_key));
      is_retained |= time && hours.insert(std::floor(*time / 3600 / retention.every_hours)).second;
    }
    if (is_retained || checkpoint.name == newest || best.contains(checkpoint.name))
      continue;
    if (auto removed = remove_folder(checkpoint.name); !removed && outcome.ok())
      outcome = std::move(removed);
  }
  return outcome;
}

status checkpoint_folder::clean() {
  auto entries = files_->list(path_);
  if (!entries)
    return entries.status().kind() == error_kind::not_found ? status{} : entries.status();
  for (const auto& entry : *entries) {
    if (!entry.is_folder && entry.name.starts_with(draft_prefix)) {
      TROUPE_TRY(files_->remove(path_of(entry.name)));
      continue;
    }
    auto is_draft = entry.is_folder && entry.name.starts_with(draft_prefix);
    auto is_incomplete =
        entry.is_folder && step_of(entry.name) &&
        is_missing(files_->inspect(path_in(path_of(entry.name), manifest_file)).status());
    if (is_draft || is_incomplete)
      TROUPE_TRY(remove_folder(entry.name));
  }
  return {};
}

} // namespace troupe
