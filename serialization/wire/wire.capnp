# Messages between processes, and saved graphs. Fields are only ever added, at the end.
@0xd3a8c5e1f07b4926;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct Status {
  kind @0 :UInt8;              # troupe::error_kind
  message @1 :Text;
  op @2 :Text;                 # the op that the error is about, if known
  node @3 :Text;
  task @4 :Text;
  incarnation @5 :UInt64;      # of that task
  stateLost @6 :Bool;          # the session's state on the task is lost
}

struct Tensor {
  type @0 :UInt8;              # troupe::dtype
  shape @1 :List(Int64);
  union {
    nothing @2 :Void;          # a tensor without a type
    inlined @3 :Data;          # the payload
    outside @4 :UInt32;        # its index among the payloads beside the message
  }
}

# ---- graphs

struct PartialShape {
  known @0 :Bool;              # whether the rank is known
  extents @1 :List(Int64);     # -1 for an unknown extent
}

struct Attr {
  name @0 :Text;
  union {
    boolean @1 :Bool;
    integer @2 :Int64;
    real @3 :Float64;
    text @4 :Data;
    type @5 :UInt8;
    shape @6 :PartialShape;
    tensor @7 :Tensor;
    integers @8 :List(Int64);
    reals @9 :List(Float64);
    texts @10 :List(Data);
    types @11 :List(UInt8);
    shapes @12 :List(PartialShape);
    function @13 :Function;
    functions @14 :List(Function);
  }
}

struct Function {
  name @0 :Text;
  body @1 :Tensor;             # a graph of its own; nothing: the function around the node
  handedOn @2 :List(Int32);    # for each result the argument that it passes on; -1: a _Fetch
}

struct Input {
  node @0 :UInt32;             # its position in the list of nodes
  output @1 :UInt32;
}

struct Node {
  op @0 :Text;
  name @1 :Text;
  inputs @2 :List(Input);
  controls @3 :List(UInt32);
  attrs @4 :List(Attr);
  device @5 :Text;
  origin @6 :Text;             # the line that built it: "model.cpp:12"
}

struct Graph {
  nodes @0 :List(Node);
  payloads @1 :List(UInt64);   # bytes of each, in the order of the payloads in the file
}

# ---- messages

struct Envelope {
  outside @0 :List(UInt64);    # bytes of each payload that travels beside the message
  union {
    hello @1 :Hello;
    refusal @2 :Status;
    registerGraph @3 :RegisterGraph;
    registerReply @4 :RegisterReply;
    deregisterGraph @5 :UInt64;
    runStep @6 :RunStep;
    stepDone @7 :StepDone;
    cancelStep @8 :CancelStep;
    tensorPush @9 :TensorPush;
    pull @10 :UInt64;
    ping @11 :Ping;
    pong @12 :UInt64;
    goodbye @13 :Text;
    containerReset @14 :ContainerReset;
    reply @15 :Reply;
    deviceListRequest @16 :UInt64;
    deviceListReply @17 :DeviceListReply;
    unwanted @18 :UInt64;
    withdrawn @19 :UInt64;
    borrow @20 :UInt64;
    lent @21 :Lent;
    returned @22 :UInt64;
    settleStep @23 :SettleStep;
    stateListRequest @24 :UInt64;
    stateListReply @25 :StateListReply;
    positionsRequest @26 :PositionsRequest;
    positionsReply @27 :PositionsReply;
    memberChanges @28 :MemberChanges;
    numberClaim @29 :NumberClaim;
    numberGrant @30 :NumberGrant;
    inspectRequest @31 :InspectRequest;
    inspectReply @32 :InspectReply;
    drainRequest @33 :UInt64;
    probeRequest @34 :Probe;
    probeAnswer @35 :Probe;
    voteRequest @36 :VoteRequest;
    vote @37 :Vote;
    sessionRequest @38 :SessionRequest;
    sessionReply @39 :SessionReply;
    fillEnd @40 :FillEnd;
    programLost @41 :UInt64;
    clientWaits @42 :List(ClientWait);
  }
}

struct Hello {
  version @0 :UInt32;
  software @1 :Text;
  role @2 :Text;
  job @3 :Text;
  task @4 :Int32;
  incarnation @5 :UInt64;
  maxMessage @6 :UInt64;
  maxTensorBytes @7 :UInt64;
  cluster @8 :Text;
  process @9 :UInt32;          # of a process that lends memory to others of its machine; or 0
  tokenAt @10 :UInt64;         # the address of its token
  token0 @11 :UInt64;
  token1 @12 :UInt64;
  accessToken @13 :Text;       # of a client that has one; over TLS only
  schema @14 :UInt64;          # a hash of this file, without comments and spaces
  build @15 :Text;             # the commit that the sender was built from
}

struct Partition {
  device @0 :Text;
  graph @1 :Tensor;
  frame @2 :UInt32;            # of a function that runs as a frame; 0: of the step itself
  function @3 :UInt32;         # which of the frame's functions
  ofNode @4 :Text;             # the node that the frame is for, named in errors
}

struct RegisterGraph {
  request @0 :UInt64;
  session @1 :UInt64;
  container @2 :Text;
  partitions @3 :List(Partition);
  regionPerNode @4 :Bool;
  deterministic @5 :Bool;
  costNodes @6 :Tensor;        # strings: the nodes that were measured
  noReplay @7 :Bool;
  incarnation @8 :UInt64;      # of the task that it is addressed to; 0: any
  peers @9 :List(KnownPeer);
  costNanoseconds @10 :Tensor; # f64: the cost of each of these nodes
  positions @11 :Tensor;       # strings [n, 2]: nodes that have not run yet, and first positions
  lowPriority @12 :Bool;       # heavy work yields to that of other steps
}

struct KnownPeer {
  task @0 :Text;
  incarnation @1 :UInt64;
}

struct RegisterReply {
  request @0 :UInt64;
  handle @1 :UInt64;
  outcome @2 :Status;
}

struct IndexedTensor {
  index @0 :UInt32;
  value @1 :Tensor;
}

struct RunStep {
  request @0 :UInt64;
  handle @1 :UInt64;
  step @2 :UInt64;
  deadlineMs @3 :UInt64;
  feeds @4 :List(IndexedTensor);
  times @5 :Bool;              # requests statistics in StepDone
  trapNonfinite @6 :Bool;
  session @7 :UInt64;
  incarnation @8 :UInt64;      # of the task that it is addressed to; 0: any
  fills @9 :Bool;              # the step initializes or restores the task's state
  retried @10 :Bool;           # the client retries the step if it fails because of a task
}

struct ClientWait {
  target @0 :Text;
  reason @1 :Text;
  steps @2 :UInt32;
  seconds @3 :Float64;
}

struct FillEnd {               # initialization_end
  request @0 :UInt64;
  done @1 :Bool;               # false: another client may initialize the task
}

struct StepDone {
  request @0 :UInt64;
  outcome @1 :Status;
  fetches @2 :List(IndexedTensor);
  statistics @3 :Tensor;       # u8: TaskStatistics
  holds @4 :Bool;              # taken values are given back unless settleStep follows
  fill @5 :UInt8;              # troupe::initialization_stage of the task
}

struct CancelStep {
  step @0 :UInt64;
  why @1 :Status;
  session @2 :UInt64;
}

struct SettleStep {
  step @0 :UInt64;
  session @1 :UInt64;
  request @2 :UInt64;
}

struct TensorPush {
  step @0 :UInt64;
  key @1 :UInt32;
  dead @2 :Bool;
  value @3 :Tensor;
  session @4 :UInt64;
  frame @5 :UInt64;            # of a loop; 0: outside of all loops
  iteration @6 :UInt64;
}

struct Lent {
  transfer @0 :UInt64;
  address @1 :UInt64;
}

struct Ping {
  nonce @0 :UInt64;
  sentNs @1 :Int64;
}

struct ContainerReset {
  request @0 :UInt64;
  container @1 :Text;
}

struct Reply {
  request @0 :UInt64;
  outcome @1 :Status;
}

struct Device {
  name @0 :Text;
  kind @1 :Text;
  memoryBytes @2 :UInt64;
  description @3 :Text;
}

struct DeviceListReply {
  request @0 :UInt64;
  devices @1 :List(Device);
}

struct StateListReply {
  request @0 :UInt64;
  texts @1 :Tensor;            # strings [n, 6]: task, container, kind, name, holds, content
  bytes @2 :Tensor;            # u64 [n]
  leftOut @3 :UInt64;          # the number of entries that are not listed
  outcome @4 :Status;
}

struct PositionsRequest {
  request @0 :UInt64;
  session @1 :UInt64;
  goOnFrom @2 :Tensor;         # strings [n, 2]: nodes, and positions to set; may be empty
}

struct PositionsReply {
  request @0 :UInt64;
  incarnation @1 :UInt64;      # of the task
  outcome @2 :Status;
  positions @3 :Tensor;        # strings [n, 2]: nodes, and their positions
}

struct InspectRequest {
  request @0 :UInt64;
  ref @1 :Text;                # "/job:ps/task:0/container:trial"
  depth @2 :UInt32;
  only @3 :Text;               # kinds of parts: "step,wait"; empty: all
}

struct InspectReply {
  request @0 :UInt64;
  outcome @1 :Status;
  tree @2 :Tensor;             # u8: JSON (serialization/reports/inspection_json.hpp)
}

# ---- clusters that tasks join

struct ListEpoch {
  term @0 :UInt64;
  change @1 :UInt64;
}

struct MemberChanges {
  since @0 :ListEpoch;
  epoch @1 :ListEpoch;
  texts @2 :Tensor;            # strings [n, 2]: jobs and addresses
  numbers @3 :Tensor;          # u64 [n, 4]: task, incarnation, presence, changed
  coordinatorJob @4 :Text;     # empty in a greeting
  coordinatorTask @5 :Int32;
}

struct NumberClaim {
  job @0 :Text;
  task @1 :Int32;              # -1: any
  incarnation @2 :UInt64;
  address @3 :Text;
  holds @4 :Bool;
}

struct NumberGrant {
  outcome @0 :Status;
  job @1 :Text;
  task @2 :Int32;
  incarnation @3 :UInt64;
  ask @4 :Text;                # the coordinator's address, if another task was asked
}

struct VoteRequest {
  term @0 :UInt64;
  has @1 :ListEpoch;
}

struct Vote {
  term @0 :UInt64;
  granted @1 :Bool;
}

struct Probe {
  job @0 :Text;
  task @1 :Int32;
  incarnation @2 :UInt64;
  reached @3 :Bool;            # in an answer
}

# ---- sessions whose master runs in a task

struct SessionOpen {
  container @0 :Text;
  regionPerNode @1 :Bool;
  deterministic @2 :Bool;
  noReplay @3 :Bool;
  placeByCost @4 :Bool;
  maxConcurrent @5 :UInt64;
  betweenTasks @6 :UInt8;      # troupe::f32_transfer
  strategy @7 :UInt8;          # troupe::placement_strategy
  soft @8 :Bool;
  receives @9 :UInt8;          # troupe::recv_schedule
  fold @10 :Bool;
  simplify @11 :Bool;
  merge @12 :Bool;
  dead @13 :Bool;
  fuse @14 :Bool;
  schedule @15 :Bool;
  hoistCollectives @16 :Bool;
  mixedPrecision @17 :UInt8;   # troupe::dtype
  swap @18 :UInt8;             # troupe::swap_mode
  swapMemory @19 :UInt64;
  swapAtLeast @20 :UInt64;
  hoistInvariants @21 :Bool;
  restores @22 :Bool;          # the client restores lost state; meanwhile, other steps wait
}

struct SessionPrepare {
  graph @0 :Tensor;
  targets @1 :List(Text);
  lowPriority @2 :Bool;
  explain @3 :Bool;
  costNodes @4 :Tensor;        # as in RegisterGraph
  costNanoseconds @5 :Tensor;
  feeds @6 :UInt32;            # of the signature
  costDevices @7 :Tensor;      # strings: the device of each measurement
  retried @8 :Bool;            # as in SessionRun
}

struct SessionRun {
  handle @0 :UInt64;
  feeds @1 :List(Tensor);
  times @2 :Bool;
  trapNonfinite @3 :Bool;
  fill @4 :UInt64;             # the number of its initialization, as in SessionFillEnd; or 0
  knows @5 :UInt64;            # the last StateLoss that the client has received and handled
  retried @6 :Bool;            # the client retries it if it fails, without an error to its caller
}

struct SessionFillEnd {
  fill @0 :UInt64;             # the number of the initialization
  done @1 :Bool;               # false: another client may initialize the tasks
}

struct SessionRequest {
  request @0 :UInt64;
  deadlineMs @1 :UInt64;
  union {
    open @2 :SessionOpen;
    prepare @3 :SessionPrepare;
    run @4 :SessionRun;
    forget @5 :UInt64;
    reset @6 :Text;
    stateOf @7 :Text;
    devices @8 :Void;
    positions @9 :Tensor;      # strings [n, 2], as in PositionsRequest
    fillEnd @10 :SessionFillEnd;
    knownDevices @11 :Void;
    stop @12 :UInt64;          # the number of a request to stop
  }
  tasks @13 :List(Text);       # of positions: only those of these tasks; empty: of all in steps
}

struct SessionRan {
  fetches @0 :List(Tensor);
  step @1 :UInt64;
  statistics @2 :List(Tensor); # u8: a TaskStatistics each
  beginNs @3 :Int64;
  endNs @4 :Int64;
}

struct TaskPositions {
  task @0 :Text;
  incarnation @1 :UInt64;
  positions @2 :Tensor;
}

struct PlacementReport {
  strategy @0 :Text;
  nodes @1 :Tensor;            # strings [n, 4]: node, op, device, why
  ends @2 :Tensor;             # f64 [n]
  totalNs @3 :Float64;
  firstWorkerNs @4 :Float64;
  links @5 :Tensor;            # strings [m, 2]: from, to
  sizes @6 :Tensor;            # f64 [m, 2]: tensors, bytes
}

struct StateLoss {
  task @0 :Text;
  number @1 :UInt64;           # in the session, from 1
}

struct TaskFill {
  task @0 :Text;
  stage @1 :UInt8;             # troupe::initialization_stage
}

struct TaskProblem {
  task @0 :Text;
  why @1 :Status;
}

struct SessionReply {
  request @0 :UInt64;
  outcome @1 :Status;
  leaving @2 :Bool;             # the task drains
  union {
    nothing @3 :Void;
    handle @4 :UInt64;
    ran @5 :SessionRan;
    devices @6 :List(Device);
    state @7 :StateListReply;
    positions @8 :List(TaskPositions);
    report @9 :PlacementReport;
  }
  warnings @10 :List(Text);
  notBegun @11 :Bool;          # another task may take the request
  held @12 :List(KnownPeer);   # tasks on which a step uses state, if not sent yet
  losses @13 :List(StateLoss); # of the session's state on tasks, if not sent yet
  fills @14 :List(TaskFill);   # of tasks that wait for initialization
  problems @15 :List(TaskProblem); # of devices and state: tasks that did not answer
}

# ---- statistics of a step on one task

struct SpanSubject {
  kind @0 :UInt8;              # troupe::span_kind
  name @1 :Text;
  op @2 :Text;
  device @3 :Text;
  peer @4 :Text;
  key @5 :UInt32;
  region @6 :UInt32;
  messages @7 :UInt32;         # of a region: after which it runs
}

struct Span {
  subject @0 :UInt32;          # its position in the list of subjects
  thread @1 :UInt32;
  beginNs @2 :Int64;           # on the task's own clock
  endNs @3 :Int64;
  bytes @4 :UInt64;
  runs @5 :UInt64;             # of a node in a function: the number of its runs, in sequence
}

struct MemoryTimeline {        # lists of one length
  device @0 :Text;
  atNs @1 :List(Int64);        # on the task's own clock
  bytes @2 :List(UInt64);
}

struct MessageCounts {         # runtime/insight/message_counts.hpp
  starts @0 :UInt64;
  tokens @1 :UInt64;
  requests @2 :UInt64;
  answers @3 :UInt64;
  sends @4 :UInt64;
  fetches @5 :UInt64;
  regionEnds @6 :UInt64;
  stepEnds @7 :UInt64;
}

struct TaskStatistics {
  task @0 :Text;
  subjects @1 :List(SpanSubject);
  spans @2 :List(Span);
  beginNs @3 :Int64;           # when the task began the step, and when it answered
  endNs @4 :Int64;
  allocatedBytes @5 :UInt64;
  peakBytes @6 :UInt64;
  memory @7 :List(MemoryTimeline);
  messages @8 :MessageCounts;  # delivered
  expectedMessages @9 :MessageCounts; # of a step that succeeds
}
