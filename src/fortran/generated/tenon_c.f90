! SPDX-License-Identifier: BSD-2-Clause
! Made by src/fortran/generate.py from the public headers. Do not edit.
module tenon_c
  use iso_c_binding
  implicit none
  public
  interface
    function TenonCheckpointCreate(comm, checkpoint) bind(C, name="TenonFCheckpointCreate") result(answer)
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int) :: answer
    end function TenonCheckpointCreate
    function TenonCheckpointAddLayer(checkpoint, layer, &
      name) bind(C, name="TenonCheckpointAddLayer") result(answer)
      import
      type(c_ptr), value :: checkpoint
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function TenonCheckpointAddLayer
    function TenonCheckpointAddOptimizer(checkpoint, optimizer, &
      name) bind(C, name="TenonCheckpointAddOptimizer") result(answer)
      import
      type(c_ptr), value :: checkpoint
      type(c_ptr), value :: optimizer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function TenonCheckpointAddOptimizer
    function TenonCheckpointAddTensor(checkpoint, tensor, &
      name) bind(C, name="TenonCheckpointAddTensor") result(answer)
      import
      type(c_ptr), value :: checkpoint
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function TenonCheckpointAddTensor
    function TenonCheckpointSetInt(checkpoint, key, &
      value) bind(C, name="TenonCheckpointSetInt") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: answer
    end function TenonCheckpointSetInt
    function TenonCheckpointSetReal(checkpoint, key, &
      value) bind(C, name="TenonCheckpointSetReal") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      real(c_double), value :: value
      integer(c_int) :: answer
    end function TenonCheckpointSetReal
    function TenonCheckpointSetString(checkpoint, key, &
      value) bind(C, name="TenonCheckpointSetString") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      character(kind=c_char), intent(in) :: value(*)
      integer(c_int) :: answer
    end function TenonCheckpointSetString
    function TenonCheckpointGetInt(checkpoint, key, &
      value) bind(C, name="TenonCheckpointGetInt") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), intent(out) :: value
      integer(c_int) :: answer
    end function TenonCheckpointGetInt
    function TenonCheckpointGetReal(checkpoint, key, &
      value) bind(C, name="TenonCheckpointGetReal") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      real(c_double), intent(out) :: value
      integer(c_int) :: answer
    end function TenonCheckpointGetReal
    function TenonCheckpointGetString(checkpoint, key, text, length, &
      needed) bind(C, name="TenonCheckpointGetString") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonCheckpointGetString
    function TenonCheckpointWrite(checkpoint, path) bind(C, name="TenonCheckpointWrite") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonCheckpointWrite
    function TenonCheckpointWriteStep(checkpoint, folder, &
      step) bind(C, name="TenonCheckpointWriteStep") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: folder(*)
      integer(c_int64_t), value :: step
      integer(c_int) :: answer
    end function TenonCheckpointWriteStep
    function TenonCheckpointRead(checkpoint, path) bind(C, name="TenonCheckpointRead") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonCheckpointRead
    function TenonCheckpointReadLatest(checkpoint, folder, &
      step) bind(C, name="TenonCheckpointReadLatest") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: folder(*)
      integer(c_int64_t), intent(out) :: step
      integer(c_int) :: answer
    end function TenonCheckpointReadLatest
    function TenonCheckpointOnSignal(checkpoint, &
      signal) bind(C, name="TenonCheckpointOnSignal") result(answer)
      import
      type(c_ptr), value :: checkpoint
      integer(c_int), value :: signal
      integer(c_int) :: answer
    end function TenonCheckpointOnSignal
    function TenonCheckpointGetSignal(checkpoint, &
      signal) bind(C, name="TenonCheckpointGetSignal") result(answer)
      import
      type(c_ptr), value :: checkpoint
      integer(c_int), intent(out) :: signal
      integer(c_int) :: answer
    end function TenonCheckpointGetSignal
    function TenonCheckpointViewFile(path) bind(C, name="TenonCheckpointViewFile") result(answer)
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonCheckpointViewFile
    function TenonCheckpointGetContents(path, text, length, &
      needed) bind(C, name="TenonCheckpointGetContents") result(answer)
      import
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonCheckpointGetContents
    function TenonDTensorLoad(x, path, dataset) bind(C, name="TenonDTensorLoad") result(answer)
      import
      type(c_ptr), value :: x
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: dataset(*)
      integer(c_int) :: answer
    end function TenonDTensorLoad
    function TenonCheckpointDestroy(checkpoint) bind(C, name="TenonCheckpointDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int) :: answer
    end function TenonCheckpointDestroy
    function TenonDatasetCreateIDX(comm, images, labels, &
      dataset) bind(C, name="TenonFDatasetCreateIDX") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: images(*)
      character(kind=c_char), intent(in) :: labels(*)
      type(c_ptr), intent(inout) :: dataset
      integer(c_int) :: answer
    end function TenonDatasetCreateIDX
    function TenonDatasetCreateHDF5(comm, path, data, labels, &
      dataset) bind(C, name="TenonFDatasetCreateHDF5") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: data(*)
      character(kind=c_char), intent(in), optional :: labels(*)
      type(c_ptr), intent(inout) :: dataset
      integer(c_int) :: answer
    end function TenonDatasetCreateHDF5
    function TenonDatasetGetShape(dataset, length, shape, &
      ndim) bind(C, name="TenonDatasetGetShape") result(answer)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: shape(*)
      integer(c_int), intent(out), optional :: ndim
      integer(c_int) :: answer
    end function TenonDatasetGetShape
    function TenonDatasetSetUp(dataset, x, labels) bind(C, name="TenonDatasetSetUp") result(answer)
      import
      type(c_ptr), value :: dataset
      type(c_ptr), value :: x
      type(c_ptr), value :: labels
      integer(c_int) :: answer
    end function TenonDatasetSetUp
    function TenonDatasetGetBatchCount(dataset, &
      count) bind(C, name="TenonDatasetGetBatchCount") result(answer)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(out) :: count
      integer(c_int) :: answer
    end function TenonDatasetGetBatchCount
    function TenonDatasetGetBatch(dataset, epoch, batch, x, &
      labels) bind(C, name="TenonDatasetGetBatch") result(answer)
      import
      type(c_ptr), value :: dataset
      integer(c_int64_t), value :: epoch
      integer(c_int64_t), value :: batch
      type(c_ptr), value :: x
      type(c_ptr), value :: labels
      integer(c_int) :: answer
    end function TenonDatasetGetBatch
    function TenonDatasetDestroy(dataset) bind(C, name="TenonDatasetDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: dataset
      integer(c_int) :: answer
    end function TenonDatasetDestroy
    function TenonDTensorCreate(layout, type, x) bind(C, name="TenonDTensorCreate") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: x
      integer(c_int) :: answer
    end function TenonDTensorCreate
    function TenonDTensorSetSpace(x, space) bind(C, name="TenonDTensorSetSpace") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: space
      integer(c_int) :: answer
    end function TenonDTensorSetSpace
    function TenonDTensorGetSpace(x, space) bind(C, name="TenonDTensorGetSpace") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), intent(out) :: space
      integer(c_int) :: answer
    end function TenonDTensorGetSpace
    function TenonDTensorPlaceArray(x, first_owned, strides, ghosts_low, ghosts_high, &
      length) bind(C, name="TenonDTensorPlaceArray") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: first_owned
      integer(c_int64_t), intent(in), optional :: strides(*)
      integer(c_int64_t), intent(in), optional :: ghosts_low(*)
      integer(c_int64_t), intent(in), optional :: ghosts_high(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: answer
    end function TenonDTensorPlaceArray
    function TenonDTensorPlaceArrayRead(x, first_owned, strides, ghosts_low, ghosts_high, &
      length) bind(C, name="TenonDTensorPlaceArrayRead") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: first_owned
      integer(c_int64_t), intent(in), optional :: strides(*)
      integer(c_int64_t), intent(in), optional :: ghosts_low(*)
      integer(c_int64_t), intent(in), optional :: ghosts_high(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: answer
    end function TenonDTensorPlaceArrayRead
    function TenonDTensorPlaceArrays(x, dim, count, first_owned, strides, ghosts_low, ghosts_high, &
      length) bind(C, name="TenonDTensorPlaceArrays") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: dim
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: first_owned(*)
      integer(c_int64_t), intent(in), optional :: strides(*)
      integer(c_int64_t), intent(in), optional :: ghosts_low(*)
      integer(c_int64_t), intent(in), optional :: ghosts_high(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: answer
    end function TenonDTensorPlaceArrays
    function TenonDTensorPlaceArraysRead(x, dim, count, first_owned, strides, ghosts_low, ghosts_high, &
      length) bind(C, name="TenonDTensorPlaceArraysRead") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: dim
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: first_owned(*)
      integer(c_int64_t), intent(in), optional :: strides(*)
      integer(c_int64_t), intent(in), optional :: ghosts_low(*)
      integer(c_int64_t), intent(in), optional :: ghosts_high(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: answer
    end function TenonDTensorPlaceArraysRead
    function TenonDTensorPlaceComponents(x, dim, count, first_owned, strides, ghosts_low, ghosts_high, &
      lengths) bind(C, name="TenonDTensorPlaceComponents") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: dim
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: first_owned(*)
      integer(c_int64_t), intent(in), optional :: strides(*)
      integer(c_int64_t), intent(in), optional :: ghosts_low(*)
      integer(c_int64_t), intent(in), optional :: ghosts_high(*)
      integer(c_int64_t), intent(in), optional :: lengths(*)
      integer(c_int) :: answer
    end function TenonDTensorPlaceComponents
    function TenonDTensorGatherArrays(x) bind(C, name="TenonDTensorGatherArrays") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonDTensorGatherArrays
    function TenonDTensorScatterArrays(x) bind(C, name="TenonDTensorScatterArrays") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonDTensorScatterArrays
    function TenonDTensorResetArray(x) bind(C, name="TenonDTensorResetArray") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonDTensorResetArray
    function TenonDTensorSetPrivate(x, is_private) bind(C, name="TenonDTensorSetPrivate") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: is_private
      integer(c_int) :: answer
    end function TenonDTensorSetPrivate
    function TenonDTensorGetArray(x, type, array) bind(C, name="TenonDTensorGetArray") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorGetArray
    function TenonDTensorRestoreArray(x, array) bind(C, name="TenonDTensorRestoreArray") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorRestoreArray
    function TenonDTensorGetArrayRead(x, type, array) bind(C, name="TenonDTensorGetArrayRead") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorGetArrayRead
    function TenonDTensorRestoreArrayRead(x, &
      array) bind(C, name="TenonDTensorRestoreArrayRead") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorRestoreArrayRead
    function TenonDTensorGetDeviceArray(x, type, &
      array) bind(C, name="TenonDTensorGetDeviceArray") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorGetDeviceArray
    function TenonDTensorGetDeviceArrayRead(x, type, &
      array) bind(C, name="TenonDTensorGetDeviceArrayRead") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function TenonDTensorGetDeviceArrayRead
    function TenonDTensorGetStrides(x, strides) bind(C, name="TenonDTensorGetStrides") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int64_t), intent(out) :: strides(*)
      integer(c_int) :: answer
    end function TenonDTensorGetStrides
    function TenonDTensorGetLayout(x, layout) bind(C, name="TenonDTensorGetLayout") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonDTensorGetLayout
    function TenonDTensorGetDataType(x, type) bind(C, name="TenonDTensorGetDataType") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int), intent(out) :: type
      integer(c_int) :: answer
    end function TenonDTensorGetDataType
    function TenonDTensorGetBox(x, low, high) bind(C, name="TenonDTensorGetBox") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int64_t), intent(out) :: low(*)
      integer(c_int64_t), intent(out) :: high(*)
      integer(c_int) :: answer
    end function TenonDTensorGetBox
    function TenonDTensorGetLocalSize(x, elements) bind(C, name="TenonDTensorGetLocalSize") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int64_t), intent(out) :: elements
      integer(c_int) :: answer
    end function TenonDTensorGetLocalSize
    function TenonDTensorCopy(x, y) bind(C, name="TenonDTensorCopy") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonDTensorCopy
    function TenonDTensorAXPBY(alpha, x, beta, y) bind(C, name="TenonDTensorAXPBY") result(answer)
      import
      real(c_double), value :: alpha
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonDTensorAXPBY
    function TenonDTensorScale(factor, x) bind(C, name="TenonDTensorScale") result(answer)
      import
      real(c_double), value :: factor
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonDTensorScale
    function TenonDTensorFillConstant(x, value) bind(C, name="TenonDTensorFillConstant") result(answer)
      import
      type(c_ptr), value :: x
      real(c_double), value :: value
      integer(c_int) :: answer
    end function TenonDTensorFillConstant
    function TenonDTensorFillUniform(x, seed, stream, low, &
      high) bind(C, name="TenonDTensorFillUniform") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: stream
      real(c_double), value :: low
      real(c_double), value :: high
      integer(c_int) :: answer
    end function TenonDTensorFillUniform
    function TenonDTensorFillNormal(x, seed, stream, mean, &
      deviation) bind(C, name="TenonDTensorFillNormal") result(answer)
      import
      type(c_ptr), value :: x
      integer(c_int64_t), value :: seed
      integer(c_int64_t), value :: stream
      real(c_double), value :: mean
      real(c_double), value :: deviation
      integer(c_int) :: answer
    end function TenonDTensorFillNormal
    function TenonDTensorNorm(x, norm) bind(C, name="TenonDTensorNorm") result(answer)
      import
      type(c_ptr), value :: x
      real(c_double), intent(out) :: norm
      integer(c_int) :: answer
    end function TenonDTensorNorm
    function TenonDTensorPairing(x, y, pairing) bind(C, name="TenonDTensorPairing") result(answer)
      import
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      real(c_double), intent(out) :: pairing
      integer(c_int) :: answer
    end function TenonDTensorPairing
    function TenonDTensorMaxAbs(x, value) bind(C, name="TenonDTensorMaxAbs") result(answer)
      import
      type(c_ptr), value :: x
      real(c_double), intent(out) :: value
      integer(c_int) :: answer
    end function TenonDTensorMaxAbs
    function TenonDTensorDestroy(x) bind(C, name="TenonDTensorDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: x
      integer(c_int) :: answer
    end function TenonDTensorDestroy
    function TenonEdgesCreate(targets, sources, count, target, source, keys, weights, &
      edges) bind(C, name="TenonEdgesCreate") result(answer)
      import
      type(c_ptr), value :: targets
      type(c_ptr), value :: sources
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: target(*)
      integer(c_int64_t), intent(in) :: source(*)
      integer(c_int64_t), intent(in), optional :: keys(*)
      real(c_double), intent(in), optional :: weights(*)
      type(c_ptr), intent(inout) :: edges
      integer(c_int) :: answer
    end function TenonEdgesCreate
    function TenonEdgesCreateShared(targets, sources, count, target, source, keys, shares, weights, &
      edges) bind(C, name="TenonEdgesCreateShared") result(answer)
      import
      type(c_ptr), value :: targets
      type(c_ptr), value :: sources
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: target(*)
      integer(c_int64_t), intent(in) :: source(*)
      integer(c_int64_t), intent(in) :: keys(*)
      real(c_double), intent(in), optional :: shares(*)
      real(c_double), intent(in), optional :: weights(*)
      type(c_ptr), intent(inout) :: edges
      integer(c_int) :: answer
    end function TenonEdgesCreateShared
    function TenonEdgesGetLayout(edges, ndim, shape, &
      layout) bind(C, name="TenonEdgesGetLayout") result(answer)
      import
      type(c_ptr), value :: edges
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonEdgesGetLayout
    function TenonLayerSetEdges(layer, name, edges) bind(C, name="TenonLayerSetEdges") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: edges
      integer(c_int) :: answer
    end function TenonLayerSetEdges
    function TenonLayerSetIndexMap(layer, name, map) bind(C, name="TenonLayerSetIndexMap") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: map
      integer(c_int) :: answer
    end function TenonLayerSetIndexMap
    function TenonLayerCreateMessagePassing(edge_network, node_network, inputs, aggregation, &
      layer) bind(C, name="TenonLayerCreateMessagePassing") result(answer)
      import
      type(c_ptr), value :: edge_network
      type(c_ptr), value :: node_network
      integer(c_int), value :: inputs
      character(kind=c_char), intent(in) :: aggregation(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateMessagePassing
    function TenonEdgesDestroy(edges) bind(C, name="TenonEdgesDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: edges
      integer(c_int) :: answer
    end function TenonEdgesDestroy
    function TenonErrorString(code) bind(C, name="TenonErrorString") result(answer)
      import
      integer(c_int), value :: code
      type(c_ptr) :: answer
    end function TenonErrorString
    function TenonErrorName(code) bind(C, name="TenonErrorName") result(answer)
      import
      integer(c_int), value :: code
      type(c_ptr) :: answer
    end function TenonErrorName
    function TenonGetLastError(code, message, length, needed) bind(C, name="TenonGetLastError") result(answer)
      import
      integer(c_int), intent(out), optional :: code
      character(kind=c_char), intent(out), optional :: message(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonGetLastError
    function TenonGetLastErrorReport(report, length, &
      needed) bind(C, name="TenonGetLastErrorReport") result(answer)
      import
      character(kind=c_char), intent(out), optional :: report(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonGetLastErrorReport
    function TenonAddFrame(code, function, file, line) bind(C, name="TenonAddFrame") result(answer)
      import
      integer(c_int), value :: code
      character(kind=c_char), intent(in) :: function(*)
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
      integer(c_int) :: answer
    end function TenonAddFrame
    function TenonPushErrorHandler(handler, context) bind(C, name="TenonPushErrorHandler") result(answer)
      import
      type(c_funptr), value :: handler
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function TenonPushErrorHandler
    function TenonPopErrorHandler() bind(C, name="TenonPopErrorHandler") result(answer)
      import
      integer(c_int) :: answer
    end function TenonPopErrorHandler
    subroutine TenonPrintErrorHandler(code, level, message, function, file, line, &
      context) bind(C, name="TenonPrintErrorHandler")
      import
      integer(c_int), value :: code
      integer(c_int), value :: level
      character(kind=c_char), intent(in) :: message(*)
      character(kind=c_char), intent(in) :: function(*)
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
      type(c_ptr), value :: context
    end subroutine TenonPrintErrorHandler
    subroutine TenonReturnErrorHandler(code, level, message, function, file, line, &
      context) bind(C, name="TenonReturnErrorHandler")
      import
      integer(c_int), value :: code
      integer(c_int), value :: level
      character(kind=c_char), intent(in) :: message(*)
      character(kind=c_char), intent(in) :: function(*)
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
      type(c_ptr), value :: context
    end subroutine TenonReturnErrorHandler
    function TenonSetFatalErrorHandler(handler, &
      context) bind(C, name="TenonSetFatalErrorHandler") result(answer)
      import
      type(c_funptr), value :: handler
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function TenonSetFatalErrorHandler
    subroutine TenonAbort(code) bind(C, name="TenonAbort")
      import
      integer(c_int), value :: code
    end subroutine TenonAbort
    subroutine TenonNoteCaller(function, file, line) bind(C, name="TenonNoteCaller")
      import
      character(kind=c_char), intent(in) :: function(*)
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
    end subroutine TenonNoteCaller
    function TenonRaiseError(code, message, function, file, &
      line) bind(C, name="TenonRaiseError") result(answer)
      import
      integer(c_int), value :: code
      character(kind=c_char), intent(in) :: message(*)
      character(kind=c_char), intent(in) :: function(*)
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
      integer(c_int) :: answer
    end function TenonRaiseError
    function TenonSetDimensionNote(note) bind(C, name="TenonSetDimensionNote") result(answer)
      import
      character(kind=c_char), intent(in), optional :: note(*)
      integer(c_int) :: answer
    end function TenonSetDimensionNote
    function TenonLayerShellSetFunctions(layer, &
      functions) bind(C, name="TenonLayerShellSetFunctions") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: functions
      integer(c_int) :: answer
    end function TenonLayerShellSetFunctions
    function TenonLayerShellSetContext(layer, context, &
      destroy) bind(C, name="TenonLayerShellSetContext") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: context
      type(c_funptr), value :: destroy
      integer(c_int) :: answer
    end function TenonLayerShellSetContext
    function TenonLayerShellGetContext(layer, &
      context) bind(C, name="TenonLayerShellGetContext") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: context
      integer(c_int) :: answer
    end function TenonLayerShellGetContext
    function TenonLayerShellSetLabels(layer, labels) bind(C, name="TenonLayerShellSetLabels") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: labels(*)
      integer(c_int) :: answer
    end function TenonLayerShellSetLabels
    function TenonLayerShellSetSaved(layer, input, &
      output) bind(C, name="TenonLayerShellSetSaved") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: input
      integer(c_int), value :: output
      integer(c_int) :: answer
    end function TenonLayerShellSetSaved
    function TenonLayerShellAddParameter(layer, name, rank, shape, fan_in, &
      fan_out) bind(C, name="TenonLayerShellAddParameter") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), value :: fan_in
      integer(c_int64_t), value :: fan_out
      integer(c_int) :: answer
    end function TenonLayerShellAddParameter
    function TenonLayerShellAddState(layer, name, rank, shape, &
      initial) bind(C, name="TenonLayerShellAddState") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: shape(*)
      real(c_double), value :: initial
      integer(c_int) :: answer
    end function TenonLayerShellAddState
    function TenonLayerShellSetWorkspace(layer, &
      bytes) bind(C, name="TenonLayerShellSetWorkspace") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: bytes
      integer(c_int) :: answer
    end function TenonLayerShellSetWorkspace
    function TenonLayerShellGetValue(layer, index, &
      value) bind(C, name="TenonLayerShellGetValue") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: value
      integer(c_int) :: answer
    end function TenonLayerShellGetValue
    function TenonLayerShellGetTangent(layer, index, &
      tangent) bind(C, name="TenonLayerShellGetTangent") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: tangent
      integer(c_int) :: answer
    end function TenonLayerShellGetTangent
    function TenonLayerShellGetGradient(layer, index, &
      gradient) bind(C, name="TenonLayerShellGetGradient") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: gradient
      integer(c_int) :: answer
    end function TenonLayerShellGetGradient
    function TenonLayerShellGetState(layer, index, &
      state) bind(C, name="TenonLayerShellGetState") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: state
      integer(c_int) :: answer
    end function TenonLayerShellGetState
    function TenonLayerShellGetWorkspace(layer, &
      workspace) bind(C, name="TenonLayerShellGetWorkspace") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: workspace
      integer(c_int) :: answer
    end function TenonLayerShellGetWorkspace
    function TenonLayerRegister(name, create) bind(C, name="TenonLayerRegister") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: create
      integer(c_int) :: answer
    end function TenonLayerRegister
    function TenonLayerSetExample(layer, seed, inputs, &
      classes) bind(C, name="TenonLayerSetExample") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: seed
      integer(c_int), intent(out) :: inputs
      integer(c_int64_t), intent(out) :: classes
      integer(c_int) :: answer
    end function TenonLayerSetExample
    function TenonLayerGetExampleRange(layer, seed, low, &
      high) bind(C, name="TenonLayerGetExampleRange") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: seed
      real(c_double), intent(out) :: low
      real(c_double), intent(out) :: high
      integer(c_int) :: answer
    end function TenonLayerGetExampleRange
    function TenonLayerGetExampleShape(layer, seed, tensor, length, shape, &
      ndim) bind(C, name="TenonLayerGetExampleShape") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: seed
      integer(c_int), value :: tensor
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: shape(*)
      integer(c_int), intent(out), optional :: ndim
      integer(c_int) :: answer
    end function TenonLayerGetExampleShape
    function TenonLinearOpCreateAllocate(from, to, at, type, &
      op) bind(C, name="TenonLinearOpCreateAllocate") result(answer)
      import
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      integer(c_int64_t), intent(in) :: at(*)
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateAllocate
    function TenonLinearOpCreateMemory(layout, name, low, high, to, type, &
      op) bind(C, name="TenonLinearOpCreateMemory") result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), intent(in) :: high(*)
      integer(c_int64_t), intent(in), optional :: to(*)
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateMemory
    function TenonLinearOpRegister(name, functions) bind(C, name="TenonLinearOpRegister") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: functions
      integer(c_int) :: answer
    end function TenonLinearOpRegister
    function TenonPlacementListCreate(levels, system, axes, sizes, &
      list) bind(C, name="TenonPlacementListCreate") result(answer)
      import
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: system(*)
      integer(c_int), value :: axes
      integer(c_int64_t), intent(in) :: sizes(*)
      type(c_ptr), intent(inout) :: list
      integer(c_int) :: answer
    end function TenonPlacementListCreate
    function TenonPlacementListGetCount(list, count) bind(C, name="TenonPlacementListGetCount") result(answer)
      import
      type(c_ptr), value :: list
      integer(c_int64_t), intent(out) :: count
      integer(c_int) :: answer
    end function TenonPlacementListGetCount
    function TenonPlacementListGetMatrix(list, index, &
      matrix) bind(C, name="TenonPlacementListGetMatrix") result(answer)
      import
      type(c_ptr), value :: list
      integer(c_int64_t), value :: index
      integer(c_int64_t), intent(out) :: matrix(*)
      integer(c_int) :: answer
    end function TenonPlacementListGetMatrix
    function TenonPlacementListGetHierarchy(list, index, axes, reduce, levels, &
      hierarchy) bind(C, name="TenonPlacementListGetHierarchy") result(answer)
      import
      type(c_ptr), value :: list
      integer(c_int64_t), value :: index
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: reduce(*)
      integer(c_int), intent(out) :: levels
      integer(c_int64_t), intent(out) :: hierarchy(*)
      integer(c_int) :: answer
    end function TenonPlacementListGetHierarchy
    function TenonPlacementListAddReduction(list, axes, reduce, &
      bytes) bind(C, name="TenonPlacementListAddReduction") result(answer)
      import
      type(c_ptr), value :: list
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: reduce(*)
      real(c_double), value :: bytes
      integer(c_int) :: answer
    end function TenonPlacementListAddReduction
    function TenonPlacementListPredict(list, machine, algorithm, size_limit, seconds, &
      best) bind(C, name="TenonPlacementListPredict") result(answer)
      import
      type(c_ptr), value :: list
      type(c_ptr), value :: machine
      integer(c_int), value :: algorithm
      integer(c_int), value :: size_limit
      real(c_double), intent(out), optional :: seconds(*)
      integer(c_int64_t), intent(out) :: best
      integer(c_int) :: answer
    end function TenonPlacementListPredict
    function TenonPlacementListDestroy(list) bind(C, name="TenonPlacementListDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: list
      integer(c_int) :: answer
    end function TenonPlacementListDestroy
    function TenonReductionProgramsCreate(list, index, axes, reduce, size_limit, &
      programs) bind(C, name="TenonReductionProgramsCreate") result(answer)
      import
      type(c_ptr), value :: list
      integer(c_int64_t), value :: index
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: reduce(*)
      integer(c_int), value :: size_limit
      type(c_ptr), intent(inout) :: programs
      integer(c_int) :: answer
    end function TenonReductionProgramsCreate
    function TenonReductionProgramsGetCount(programs, &
      count) bind(C, name="TenonReductionProgramsGetCount") result(answer)
      import
      type(c_ptr), value :: programs
      integer(c_int64_t), intent(out) :: count
      integer(c_int) :: answer
    end function TenonReductionProgramsGetCount
    function TenonReductionProgramsGetSize(programs, index, &
      steps) bind(C, name="TenonReductionProgramsGetSize") result(answer)
      import
      type(c_ptr), value :: programs
      integer(c_int64_t), value :: index
      integer(c_int), intent(out) :: steps
      integer(c_int) :: answer
    end function TenonReductionProgramsGetSize
    function TenonReductionProgramsGetText(programs, index, text, length, &
      needed) bind(C, name="TenonReductionProgramsGetText") result(answer)
      import
      type(c_ptr), value :: programs
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonReductionProgramsGetText
    function TenonReductionProgramsGetStep(programs, index, step, collective, groups, &
      members) bind(C, name="TenonReductionProgramsGetStep") result(answer)
      import
      type(c_ptr), value :: programs
      integer(c_int64_t), value :: index
      integer(c_int), value :: step
      integer(c_int), intent(out) :: collective
      integer(c_int), intent(out) :: groups
      integer(c_int), intent(out) :: members
      integer(c_int) :: answer
    end function TenonReductionProgramsGetStep
    function TenonReductionProgramsGetGroups(programs, index, step, &
      devices) bind(C, name="TenonReductionProgramsGetGroups") result(answer)
      import
      type(c_ptr), value :: programs
      integer(c_int64_t), value :: index
      integer(c_int), value :: step
      integer(c_int), intent(out) :: devices(*)
      integer(c_int) :: answer
    end function TenonReductionProgramsGetGroups
    function TenonReductionProgramsPredict(programs, machine, algorithm, bytes, &
      seconds) bind(C, name="TenonReductionProgramsPredict") result(answer)
      import
      type(c_ptr), value :: programs
      type(c_ptr), value :: machine
      integer(c_int), value :: algorithm
      real(c_double), value :: bytes
      real(c_double), intent(out) :: seconds(*)
      integer(c_int) :: answer
    end function TenonReductionProgramsPredict
    function TenonReductionProgramsDestroy( &
      programs) bind(C, name="TenonReductionProgramsDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: programs
      integer(c_int) :: answer
    end function TenonReductionProgramsDestroy
    function TenonFieldSeriesCreate(comm, path, spatial, &
      series) bind(C, name="TenonFFieldSeriesCreate") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: spatial
      type(c_ptr), intent(inout) :: series
      integer(c_int) :: answer
    end function TenonFieldSeriesCreate
    function TenonFieldSeriesSetGrid(series, spatial, origin, &
      spacing) bind(C, name="TenonFieldSeriesSetGrid") result(answer)
      import
      type(c_ptr), value :: series
      integer(c_int), value :: spatial
      real(c_double), intent(in) :: origin(*)
      real(c_double), intent(in) :: spacing(*)
      integer(c_int) :: answer
    end function TenonFieldSeriesSetGrid
    function TenonFieldSeriesSetMesh(series, cells, shape, nodes, corners, corner, coordinates, &
      places) bind(C, name="TenonFieldSeriesSetMesh") result(answer)
      import
      type(c_ptr), value :: series
      type(c_ptr), value :: cells
      character(kind=c_char), intent(in) :: shape(*)
      type(c_ptr), value :: nodes
      integer(c_int64_t), value :: corners
      integer(c_int64_t), intent(in) :: corner(*)
      integer(c_int64_t), value :: coordinates
      real(c_double), intent(in) :: places(*)
      integer(c_int) :: answer
    end function TenonFieldSeriesSetMesh
    function TenonFieldSeriesAddTensor(series, tensor, name, &
      components) bind(C, name="TenonFieldSeriesAddTensor") result(answer)
      import
      type(c_ptr), value :: series
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in), optional :: components(*)
      integer(c_int) :: answer
    end function TenonFieldSeriesAddTensor
    function TenonFieldSeriesWrite(series, step, time) bind(C, name="TenonFieldSeriesWrite") result(answer)
      import
      type(c_ptr), value :: series
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      integer(c_int) :: answer
    end function TenonFieldSeriesWrite
    function TenonFieldSeriesDestroy(series) bind(C, name="TenonFieldSeriesDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: series
      integer(c_int) :: answer
    end function TenonFieldSeriesDestroy
    function TenonIndexMapCreateFromIds(comm, owned, count, ids, &
      map) bind(C, name="TenonFIndexMapCreateFromIds") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: owned
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: ids(*)
      type(c_ptr), intent(inout) :: map
      integer(c_int) :: answer
    end function TenonIndexMapCreateFromIds
    function TenonIndexMapCreateSorted(nodes, sorted) bind(C, name="TenonIndexMapCreateSorted") result(answer)
      import
      type(c_ptr), value :: nodes
      type(c_ptr), intent(inout) :: sorted
      integer(c_int) :: answer
    end function TenonIndexMapCreateSorted
    function TenonIndexMapCreateCells(from, to, joint, count, target, source, weights, &
      map) bind(C, name="TenonIndexMapCreateCells") result(answer)
      import
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      integer(c_int), intent(in) :: joint(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: target(*)
      integer(c_int64_t), intent(in) :: source(*)
      real(c_double), intent(in), optional :: weights(*)
      type(c_ptr), intent(inout) :: map
      integer(c_int) :: answer
    end function TenonIndexMapCreateCells
    function TenonIndexMapGetLayouts(map, ndim, shape, domain, &
      range) bind(C, name="TenonIndexMapGetLayouts") result(answer)
      import
      type(c_ptr), value :: map
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(inout) :: domain
      type(c_ptr), intent(inout) :: range
      integer(c_int) :: answer
    end function TenonIndexMapGetLayouts
    function TenonLinearOpCreateIndexMap(map, domain, type, &
      op) bind(C, name="TenonLinearOpCreateIndexMap") result(answer)
      import
      type(c_ptr), value :: map
      type(c_ptr), value :: domain
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateIndexMap
    function TenonIndexMapDestroy(map) bind(C, name="TenonIndexMapDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: map
      integer(c_int) :: answer
    end function TenonIndexMapDestroy
    function TenonInitialize(argc, argv, help) bind(C, name="TenonInitialize") result(answer)
      import
      integer(c_int), intent(inout), optional :: argc
      type(c_ptr), intent(inout), optional :: argv
      character(kind=c_char), intent(in), optional :: help(*)
      integer(c_int) :: answer
    end function TenonInitialize
    function TenonInitializeWithComm(comm, argc, argv, &
      help) bind(C, name="TenonFInitializeWithComm") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), intent(inout), optional :: argc
      type(c_ptr), intent(inout), optional :: argv
      character(kind=c_char), intent(in), optional :: help(*)
      integer(c_int) :: answer
    end function TenonInitializeWithComm
    function TenonFinalize() bind(C, name="TenonFinalize") result(answer)
      import
      integer(c_int) :: answer
    end function TenonFinalize
    function TenonInitialized(initialized) bind(C, name="TenonInitialized") result(answer)
      import
      integer(c_int), intent(out) :: initialized
      integer(c_int) :: answer
    end function TenonInitialized
    function TenonCommFromFortran(fcomm, comm) bind(C, name="TenonFCommFromFortran") result(answer)
      import
      integer(c_int), value :: fcomm
      integer(c_int), intent(out) :: comm
      integer(c_int) :: answer
    end function TenonCommFromFortran
    function TenonGetVersion(major, minor, patch) bind(C, name="TenonGetVersion") result(answer)
      import
      integer(c_int), intent(out), optional :: major
      integer(c_int), intent(out), optional :: minor
      integer(c_int), intent(out), optional :: patch
      integer(c_int) :: answer
    end function TenonGetVersion
    function TenonGetInfo(what, text, length, needed) bind(C, name="TenonGetInfo") result(answer)
      import
      character(kind=c_char), intent(in) :: what(*)
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonGetInfo
    function TenonLayerSetDataType(layer, type) bind(C, name="TenonLayerSetDataType") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: type
      integer(c_int) :: answer
    end function TenonLayerSetDataType
    function TenonLayerSetSpace(layer, space) bind(C, name="TenonLayerSetSpace") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: space
      integer(c_int) :: answer
    end function TenonLayerSetSpace
    function TenonLayerSetStackDepth(layer, depth) bind(C, name="TenonLayerSetStackDepth") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: depth
      integer(c_int) :: answer
    end function TenonLayerSetStackDepth
    function TenonLayerSetSignature(layer, labels) bind(C, name="TenonLayerSetSignature") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: labels(*)
      integer(c_int) :: answer
    end function TenonLayerSetSignature
    function TenonLayerSetStorage(layer, storage) bind(C, name="TenonLayerSetStorage") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: storage(*)
      integer(c_int) :: answer
    end function TenonLayerSetStorage
    function TenonLayerSetUp(layer, input) bind(C, name="TenonLayerSetUp") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: input
      integer(c_int) :: answer
    end function TenonLayerSetUp
    function TenonLayerGetOutputLayout(layer, output) bind(C, name="TenonLayerGetOutputLayout") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: output
      integer(c_int) :: answer
    end function TenonLayerGetOutputLayout
    function TenonLayerCreateOutput(layer, y) bind(C, name="TenonLayerCreateOutput") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: y
      integer(c_int) :: answer
    end function TenonLayerCreateOutput
    function TenonLayerCreateOutputCotangent(layer, &
      dy) bind(C, name="TenonLayerCreateOutputCotangent") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: dy
      integer(c_int) :: answer
    end function TenonLayerCreateOutputCotangent
    function TenonLayerCreateInputCotangent(layer, &
      dx) bind(C, name="TenonLayerCreateInputCotangent") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), intent(inout) :: dx
      integer(c_int) :: answer
    end function TenonLayerCreateInputCotangent
    function TenonLayerInitialize(layer, seed) bind(C, name="TenonLayerInitialize") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: seed
      integer(c_int) :: answer
    end function TenonLayerInitialize
    function TenonLayerGetParameterCount(layer, &
      count) bind(C, name="TenonLayerGetParameterCount") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonLayerGetParameterCount
    function TenonLayerGetParameter(layer, index, &
      parameter) bind(C, name="TenonLayerGetParameter") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: parameter
      integer(c_int) :: answer
    end function TenonLayerGetParameter
    function TenonLayerGetParameterGradient(layer, index, &
      gradient) bind(C, name="TenonLayerGetParameterGradient") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: gradient
      integer(c_int) :: answer
    end function TenonLayerGetParameterGradient
    function TenonLayerGetReducedGradient(layer, index, &
      gradient) bind(C, name="TenonLayerGetReducedGradient") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: gradient
      integer(c_int) :: answer
    end function TenonLayerGetReducedGradient
    function TenonLayerGetParameterTangent(layer, index, &
      tangent) bind(C, name="TenonLayerGetParameterTangent") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: tangent
      integer(c_int) :: answer
    end function TenonLayerGetParameterTangent
    function TenonLayerGetStateCount(layer, count) bind(C, name="TenonLayerGetStateCount") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonLayerGetStateCount
    function TenonLayerGetState(layer, index, state) bind(C, name="TenonLayerGetState") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: state
      integer(c_int) :: answer
    end function TenonLayerGetState
    function TenonLayerSetTraining(layer, training) bind(C, name="TenonLayerSetTraining") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: training
      integer(c_int) :: answer
    end function TenonLayerSetTraining
    function TenonLayerSetRecording(layer, recording) bind(C, name="TenonLayerSetRecording") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: recording
      integer(c_int) :: answer
    end function TenonLayerSetRecording
    function TenonLayerSetFrozen(layer, frozen) bind(C, name="TenonLayerSetFrozen") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: frozen
      integer(c_int) :: answer
    end function TenonLayerSetFrozen
    function TenonLayerSetTarget(layer, target) bind(C, name="TenonLayerSetTarget") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: target
      integer(c_int) :: answer
    end function TenonLayerSetTarget
    function TenonLayerSetTargetWeights(layer, &
      weights) bind(C, name="TenonLayerSetTargetWeights") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: weights
      integer(c_int) :: answer
    end function TenonLayerSetTargetWeights
    function TenonLayerApply(layer, x, y) bind(C, name="TenonLayerApply") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLayerApply
    function TenonLayerApplyTangent(layer, dx, dy) bind(C, name="TenonLayerApplyTangent") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: dx
      type(c_ptr), value :: dy
      integer(c_int) :: answer
    end function TenonLayerApplyTangent
    function TenonLayerApplyAdjoint(layer, dy, dx) bind(C, name="TenonLayerApplyAdjoint") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: dy
      type(c_ptr), value :: dx
      integer(c_int) :: answer
    end function TenonLayerApplyAdjoint
    function TenonLayerClearStack(layer) bind(C, name="TenonLayerClearStack") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int) :: answer
    end function TenonLayerClearStack
    function TenonLayerZeroGradients(layer) bind(C, name="TenonLayerZeroGradients") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int) :: answer
    end function TenonLayerZeroGradients
    function TenonLayerTestAdjoint(layer, x, seed, tangent, adjoint, &
      relative) bind(C, name="TenonLayerTestAdjoint") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: x
      integer(c_int64_t), value :: seed
      real(c_double), intent(out), optional :: tangent
      real(c_double), intent(out), optional :: adjoint
      real(c_double), intent(out), optional :: relative
      integer(c_int) :: answer
    end function TenonLayerTestAdjoint
    function TenonLayerTestTaylor(layer, x, seed, order, &
      remainder) bind(C, name="TenonLayerTestTaylor") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: x
      integer(c_int64_t), value :: seed
      real(c_double), intent(out), optional :: order
      real(c_double), intent(out), optional :: remainder
      integer(c_int) :: answer
    end function TenonLayerTestTaylor
    function TenonLayerDestroy(layer) bind(C, name="TenonLayerDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerDestroy
    function TenonLayerCreateSequential(comm, &
      layer) bind(C, name="TenonFLayerCreateSequential") result(answer)
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateSequential
    function TenonLayerSequentialAdd(container, layer) bind(C, name="TenonLayerSequentialAdd") result(answer)
      import
      type(c_ptr), value :: container
      type(c_ptr), value :: layer
      integer(c_int) :: answer
    end function TenonLayerSequentialAdd
    function TenonLayerCreateGraph(comm, layer) bind(C, name="TenonFLayerCreateGraph") result(answer)
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateGraph
    function TenonLayerGraphAddNode(graph, layer, count, inputs, &
      node) bind(C, name="TenonLayerGraphAddNode") result(answer)
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: layer
      integer(c_int), value :: count
      integer(c_int), intent(in) :: inputs(*)
      integer(c_int), intent(out), optional :: node
      integer(c_int) :: answer
    end function TenonLayerGraphAddNode
    function TenonLayerGetBoundaryLayout(layer, input, &
      boundary) bind(C, name="TenonLayerGetBoundaryLayout") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: input
      type(c_ptr), intent(inout) :: boundary
      integer(c_int) :: answer
    end function TenonLayerGetBoundaryLayout
    function TenonLayerSetUpMany(layer, count, inputs) bind(C, name="TenonLayerSetUpMany") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: inputs(*)
      integer(c_int) :: answer
    end function TenonLayerSetUpMany
    function TenonLayerCreateInputCotangentAt(layer, input, &
      dx) bind(C, name="TenonLayerCreateInputCotangentAt") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: input
      type(c_ptr), intent(inout) :: dx
      integer(c_int) :: answer
    end function TenonLayerCreateInputCotangentAt
    function TenonLayerApplyMany(layer, count, x, y) bind(C, name="TenonLayerApplyMany") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLayerApplyMany
    function TenonLayerApplyTangentMany(layer, count, dx, &
      dy) bind(C, name="TenonLayerApplyTangentMany") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: dx(*)
      type(c_ptr), value :: dy
      integer(c_int) :: answer
    end function TenonLayerApplyTangentMany
    function TenonLayerApplyAdjointMany(layer, dy, count, &
      dx) bind(C, name="TenonLayerApplyAdjointMany") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: dy
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: dx(*)
      integer(c_int) :: answer
    end function TenonLayerApplyAdjointMany
    function TenonLayerGetInputCount(layer, count) bind(C, name="TenonLayerGetInputCount") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonLayerGetInputCount
    function TenonLayerGetInputName(layer, input, name, length, &
      needed) bind(C, name="TenonLayerGetInputName") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: input
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayerGetInputName
    function TenonLayerGetOutputCount(layer, count) bind(C, name="TenonLayerGetOutputCount") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonLayerGetOutputCount
    function TenonLayerGetOutputName(layer, output, name, length, &
      needed) bind(C, name="TenonLayerGetOutputName") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: output
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayerGetOutputName
    function TenonLayerGetOutputLayoutAt(layer, output, &
      layout) bind(C, name="TenonLayerGetOutputLayoutAt") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: output
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayerGetOutputLayoutAt
    function TenonLayerCreateOutputAt(layer, output, &
      y) bind(C, name="TenonLayerCreateOutputAt") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: output
      type(c_ptr), intent(inout) :: y
      integer(c_int) :: answer
    end function TenonLayerCreateOutputAt
    function TenonLayerCreateOutputCotangentAt(layer, output, &
      dy) bind(C, name="TenonLayerCreateOutputCotangentAt") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: output
      type(c_ptr), intent(inout) :: dy
      integer(c_int) :: answer
    end function TenonLayerCreateOutputCotangentAt
    function TenonLayerApplyAll(layer, inputs, x, outputs, &
      y) bind(C, name="TenonLayerApplyAll") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: inputs
      type(c_ptr), intent(in) :: x(*)
      integer(c_int), value :: outputs
      type(c_ptr), intent(in) :: y(*)
      integer(c_int) :: answer
    end function TenonLayerApplyAll
    function TenonLayerApplyTangentAll(layer, inputs, dx, outputs, &
      dy) bind(C, name="TenonLayerApplyTangentAll") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: inputs
      type(c_ptr), intent(in) :: dx(*)
      integer(c_int), value :: outputs
      type(c_ptr), intent(in) :: dy(*)
      integer(c_int) :: answer
    end function TenonLayerApplyTangentAll
    function TenonLayerApplyAdjointAll(layer, outputs, dy, inputs, &
      dx) bind(C, name="TenonLayerApplyAdjointAll") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: outputs
      type(c_ptr), intent(in) :: dy(*)
      integer(c_int), value :: inputs
      type(c_ptr), intent(in) :: dx(*)
      integer(c_int) :: answer
    end function TenonLayerApplyAdjointAll
    function TenonLayerCreateFromFile(comm, name_or_path, &
      layer) bind(C, name="TenonFLayerCreateFromFile") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: name_or_path(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateFromFile
    function TenonLayerCreateFromModel(comm, path, &
      layer) bind(C, name="TenonFLayerCreateFromModel") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateFromModel
    function TenonLayerTestModel(layer) bind(C, name="TenonLayerTestModel") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int) :: answer
    end function TenonLayerTestModel
    function TenonLayerSaveNetwork(layer, path) bind(C, name="TenonLayerSaveNetwork") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonLayerSaveNetwork
    function TenonLayerLoadWeights(layer, path, map) bind(C, name="TenonLayerLoadWeights") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in), optional :: map(*)
      integer(c_int) :: answer
    end function TenonLayerLoadWeights
    function TenonLayerSaveWeights(layer, path) bind(C, name="TenonLayerSaveWeights") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonLayerSaveWeights
    function TenonLayerGetChild(layer, path, child) bind(C, name="TenonLayerGetChild") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: child
      integer(c_int) :: answer
    end function TenonLayerGetChild
    function TenonLayerGetChildCount(layer, count) bind(C, name="TenonLayerGetChildCount") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonLayerGetChildCount
    function TenonLayerGetChildAt(layer, index, child) bind(C, name="TenonLayerGetChildAt") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: child
      integer(c_int) :: answer
    end function TenonLayerGetChildAt
    function TenonLayerGetParameterAt(layer, path, &
      parameter) bind(C, name="TenonLayerGetParameterAt") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: parameter
      integer(c_int) :: answer
    end function TenonLayerGetParameterAt
    function TenonLayerCreateType(comm, name, layer) bind(C, name="TenonFLayerCreateType") result(answer)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateType
    function TenonLayerCreateConv(comm, spatial, in_channels, out_channels, kernel, &
      layer) bind(C, name="TenonFLayerCreateConv") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: spatial
      integer(c_int64_t), value :: in_channels
      integer(c_int64_t), value :: out_channels
      integer(c_int64_t), intent(in) :: kernel(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateConv
    function TenonLayerCreateAffine(comm, inputs, outputs, &
      layer) bind(C, name="TenonFLayerCreateAffine") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int64_t), value :: inputs
      integer(c_int64_t), value :: outputs
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateAffine
    function TenonLayerCreateColumnMLP(comm, count, widths, activation, &
      layer) bind(C, name="TenonFLayerCreateColumnMLP") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: count
      integer(c_int64_t), intent(in) :: widths(*)
      character(kind=c_char), intent(in), optional :: activation(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateColumnMLP
    function TenonLayerCreateCollocate(comm, spatial, faces, &
      layer) bind(C, name="TenonFLayerCreateCollocate") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: spatial
      integer(c_int), intent(in) :: faces(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateCollocate
    function TenonLayerCreateStagger(comm, spatial, faces, &
      layer) bind(C, name="TenonFLayerCreateStagger") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: spatial
      integer(c_int), intent(in) :: faces(*)
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonLayerCreateStagger
    function TenonLayerGetSpatialDimensions(layer, &
      spatial) bind(C, name="TenonLayerGetSpatialDimensions") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(out) :: spatial
      integer(c_int) :: answer
    end function TenonLayerGetSpatialDimensions
    function TenonLayerSetStride(layer, stride) bind(C, name="TenonLayerSetStride") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), intent(in) :: stride(*)
      integer(c_int) :: answer
    end function TenonLayerSetStride
    function TenonLayerSetPadding(layer, low, high) bind(C, name="TenonLayerSetPadding") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), intent(in), optional :: high(*)
      integer(c_int) :: answer
    end function TenonLayerSetPadding
    function TenonLayerSetBoundary(layer, low, high) bind(C, name="TenonLayerSetBoundary") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), intent(in) :: low(*)
      integer(c_int), intent(in), optional :: high(*)
      integer(c_int) :: answer
    end function TenonLayerSetBoundary
    function TenonLayerSetChannelBoundary(layer, channel, low, &
      high) bind(C, name="TenonLayerSetChannelBoundary") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int64_t), value :: channel
      integer(c_int), intent(in) :: low(*)
      integer(c_int), intent(in), optional :: high(*)
      integer(c_int) :: answer
    end function TenonLayerSetChannelBoundary
    function TenonLayerSetOutputLayout(layer, output) bind(C, name="TenonLayerSetOutputLayout") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: output
      integer(c_int) :: answer
    end function TenonLayerSetOutputLayout
    function TenonLayerGetTypes(types, length, needed) bind(C, name="TenonLayerGetTypes") result(answer)
      import
      character(kind=c_char), intent(out), optional :: types(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayerGetTypes
    function TenonLayerGetLabels(layer, ndim, shape, labels, length, &
      needed) bind(C, name="TenonLayerGetLabels") result(answer)
      import
      type(c_ptr), value :: layer
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      character(kind=c_char), intent(out), optional :: labels(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayerGetLabels
    function TenonLayerGetTypeSignatures(type, ndim, signatures, length, &
      needed) bind(C, name="TenonLayerGetTypeSignatures") result(answer)
      import
      character(kind=c_char), intent(in) :: type(*)
      integer(c_int), value :: ndim
      character(kind=c_char), intent(out), optional :: signatures(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayerGetTypeSignatures
    function TenonLayoutCreateSharded(partition, ndim, shape, properties, &
      layout) bind(C, name="TenonLayoutCreateSharded") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      character(kind=c_char), intent(in) :: properties(*)
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutCreateSharded
    function TenonLayoutCreateFromBoxes(comm, ndim, shape, low, high, &
      layout) bind(C, name="TenonFLayoutCreateFromBoxes") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in), optional :: shape(*)
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), intent(in) :: high(*)
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutCreateFromBoxes
    function TenonLayoutCreateStaggered(cells, faces, &
      layout) bind(C, name="TenonLayoutCreateStaggered") result(answer)
      import
      type(c_ptr), value :: cells
      integer(c_int64_t), intent(in) :: faces(*)
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutCreateStaggered
    function TenonLayoutCreate(partition, layout) bind(C, name="TenonLayoutCreate") result(answer)
      import
      type(c_ptr), value :: partition
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutCreate
    function TenonLayoutCreateLike(model, layout) bind(C, name="TenonLayoutCreateLike") result(answer)
      import
      type(c_ptr), value :: model
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutCreateLike
    function TenonLayoutSetShape(layout, ndim, shape) bind(C, name="TenonLayoutSetShape") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int) :: answer
    end function TenonLayoutSetShape
    function TenonLayoutSetProperties(layout, &
      properties) bind(C, name="TenonLayoutSetProperties") result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(in) :: properties(*)
      integer(c_int) :: answer
    end function TenonLayoutSetProperties
    function TenonLayoutSetSplitOrder(layout, dim, count, &
      axes) bind(C, name="TenonLayoutSetSplitOrder") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dim
      integer(c_int), value :: count
      integer(c_int), intent(in) :: axes(*)
      integer(c_int) :: answer
    end function TenonLayoutSetSplitOrder
    function TenonLayoutSetCuts(layout, dim, count, cuts) bind(C, name="TenonLayoutSetCuts") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dim
      integer(c_int), value :: count
      integer(c_int64_t), intent(in) :: cuts(*)
      integer(c_int) :: answer
    end function TenonLayoutSetCuts
    function TenonLayoutSetHalo(layout, dim, low, high, low_mode, &
      high_mode) bind(C, name="TenonLayoutSetHalo") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dim
      integer(c_int64_t), value :: low
      integer(c_int64_t), value :: high
      integer(c_int), value :: low_mode
      integer(c_int), value :: high_mode
      integer(c_int) :: answer
    end function TenonLayoutSetHalo
    function TenonLayoutSetHaloBoxes(layout, dim, count, low, high, low_mode, &
      high_mode) bind(C, name="TenonLayoutSetHaloBoxes") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dim
      integer(c_int), value :: count
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), intent(in) :: high(*)
      integer(c_int), value :: low_mode
      integer(c_int), value :: high_mode
      integer(c_int) :: answer
    end function TenonLayoutSetHaloBoxes
    function TenonLayoutSetHaloPartial(layout, dim, &
      partial) bind(C, name="TenonLayoutSetHaloPartial") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: dim
      integer(c_int), value :: partial
      integer(c_int) :: answer
    end function TenonLayoutSetHaloPartial
    function TenonLayoutSetUp(layout) bind(C, name="TenonLayoutSetUp") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int) :: answer
    end function TenonLayoutSetUp
    function TenonLayoutGetDual(layout, dual) bind(C, name="TenonLayoutGetDual") result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), intent(inout) :: dual
      integer(c_int) :: answer
    end function TenonLayoutGetDual
    function TenonLayoutGetPartition(layout, partition) bind(C, name="TenonLayoutGetPartition") result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), intent(inout) :: partition
      integer(c_int) :: answer
    end function TenonLayoutGetPartition
    function TenonLayoutGetDim(layout, ndim) bind(C, name="TenonLayoutGetDim") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), intent(out) :: ndim
      integer(c_int) :: answer
    end function TenonLayoutGetDim
    function TenonLayoutGetShape(layout, shape) bind(C, name="TenonLayoutGetShape") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), intent(out) :: shape(*)
      integer(c_int) :: answer
    end function TenonLayoutGetShape
    function TenonLayoutGetProperties(layout, properties, length, &
      needed) bind(C, name="TenonLayoutGetProperties") result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(out), optional :: properties(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLayoutGetProperties
    function TenonLayoutGetBox(layout, low, high) bind(C, name="TenonLayoutGetBox") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), intent(out) :: low(*)
      integer(c_int64_t), intent(out) :: high(*)
      integer(c_int) :: answer
    end function TenonLayoutGetBox
    function TenonLayoutGetOwnedBox(layout, low, high) bind(C, name="TenonLayoutGetOwnedBox") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), intent(out) :: low(*)
      integer(c_int64_t), intent(out) :: high(*)
      integer(c_int) :: answer
    end function TenonLayoutGetOwnedBox
    function TenonLayoutIsActive(layout, active) bind(C, name="TenonLayoutIsActive") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), intent(out) :: active
      integer(c_int) :: answer
    end function TenonLayoutIsActive
    function TenonLayoutIsEqual(layout, other, equal) bind(C, name="TenonLayoutIsEqual") result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), value :: other
      integer(c_int), intent(out) :: equal
      integer(c_int) :: answer
    end function TenonLayoutIsEqual
    function TenonLayoutDestroy(layout) bind(C, name="TenonLayoutDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLayoutDestroy
    function TenonLinearOpApply(op, x, y) bind(C, name="TenonLinearOpApply") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLinearOpApply
    function TenonLinearOpApplyAdjoint(op, y, x) bind(C, name="TenonLinearOpApplyAdjoint") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), value :: y
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonLinearOpApplyAdjoint
    function TenonLinearOpApplyAdd(op, alpha, x, beta, y) bind(C, name="TenonLinearOpApplyAdd") result(answer)
      import
      type(c_ptr), value :: op
      real(c_double), value :: alpha
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLinearOpApplyAdd
    function TenonLinearOpApplyBegin(op, alpha, x, beta, &
      y) bind(C, name="TenonLinearOpApplyBegin") result(answer)
      import
      type(c_ptr), value :: op
      real(c_double), value :: alpha
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLinearOpApplyBegin
    function TenonLinearOpApplyEnd(op) bind(C, name="TenonLinearOpApplyEnd") result(answer)
      import
      type(c_ptr), value :: op
      integer(c_int) :: answer
    end function TenonLinearOpApplyEnd
    function TenonLinearOpBind(op, x, y) bind(C, name="TenonLinearOpBind") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonLinearOpBind
    function TenonLinearOpUnbind(op) bind(C, name="TenonLinearOpUnbind") result(answer)
      import
      type(c_ptr), value :: op
      integer(c_int) :: answer
    end function TenonLinearOpUnbind
    function TenonLinearOpGetDomain(op, layout) bind(C, name="TenonLinearOpGetDomain") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLinearOpGetDomain
    function TenonLinearOpGetRange(op, layout) bind(C, name="TenonLinearOpGetRange") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLinearOpGetRange
    function TenonLinearOpGetDataTypes(op, domain, &
      range) bind(C, name="TenonLinearOpGetDataTypes") result(answer)
      import
      type(c_ptr), value :: op
      integer(c_int), intent(out), optional :: domain
      integer(c_int), intent(out), optional :: range
      integer(c_int) :: answer
    end function TenonLinearOpGetDataTypes
    function TenonLinearOpGetTraffic(op, messages, &
      bytes) bind(C, name="TenonLinearOpGetTraffic") result(answer)
      import
      type(c_ptr), value :: op
      integer(c_int64_t), intent(out) :: messages
      integer(c_int64_t), intent(out) :: bytes
      integer(c_int) :: answer
    end function TenonLinearOpGetTraffic
    function TenonLinearOpTestAdjoint(op, seed, integers, forward, adjoint, &
      relative) bind(C, name="TenonLinearOpTestAdjoint") result(answer)
      import
      type(c_ptr), value :: op
      integer(c_int64_t), value :: seed
      integer(c_int), value :: integers
      real(c_double), intent(out), optional :: forward
      real(c_double), intent(out), optional :: adjoint
      real(c_double), intent(out), optional :: relative
      integer(c_int) :: answer
    end function TenonLinearOpTestAdjoint
    function TenonLinearOpDestroy(op) bind(C, name="TenonLinearOpDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpDestroy
    function TenonLinearOpCreateConversion(from, to, type, &
      op) bind(C, name="TenonLinearOpCreateConversion") result(answer)
      import
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateConversion
    function TenonLinearOpCreateHalo(from, to, type, &
      op) bind(C, name="TenonLinearOpCreateHalo") result(answer)
      import
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateHalo
    function TenonLinearOpCreateBoundaryValues(layout, type, &
      op) bind(C, name="TenonLinearOpCreateBoundaryValues") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateBoundaryValues
    function TenonLinearOpCreateBoundaryConstant(layout, type, &
      op) bind(C, name="TenonLinearOpCreateBoundaryConstant") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateBoundaryConstant
    function TenonLinearOpCreatePrimitive(layout, name, axis, dim, type, &
      op) bind(C, name="TenonLinearOpCreatePrimitive") result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: axis
      integer(c_int), value :: dim
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreatePrimitive
    function TenonLinearOpCreateSendReceive(layout, rank, type, &
      op) bind(C, name="TenonLinearOpCreateSendReceive") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: rank
      integer(c_int), value :: type
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateSendReceive
    function TenonLinearOpCreateCast(layout, from, to, &
      op) bind(C, name="TenonLinearOpCreateCast") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int), value :: from
      integer(c_int), value :: to
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateCast
    function TenonLinearOpCreateComposition(count, ops, &
      op) bind(C, name="TenonLinearOpCreateComposition") result(answer)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: ops(*)
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateComposition
    function TenonLinearOpCreateAdjoint(op, adjoint) bind(C, name="TenonLinearOpCreateAdjoint") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), intent(inout) :: adjoint
      integer(c_int) :: answer
    end function TenonLinearOpCreateAdjoint
    function TenonLinearOpCreateSum(count, ops, op) bind(C, name="TenonLinearOpCreateSum") result(answer)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: ops(*)
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateSum
    function TenonLinearOpCreateScale(factor, op, &
      scaled) bind(C, name="TenonLinearOpCreateScale") result(answer)
      import
      real(c_double), value :: factor
      type(c_ptr), value :: op
      type(c_ptr), intent(inout) :: scaled
      integer(c_int) :: answer
    end function TenonLinearOpCreateScale
    function TenonLinearOpCreateShell(domain, range, domain_type, range_type, apply, apply_adjoint, context, &
      destroy, op) bind(C, name="TenonLinearOpCreateShell") result(answer)
      import
      type(c_ptr), value :: domain
      type(c_ptr), value :: range
      integer(c_int), value :: domain_type
      integer(c_int), value :: range_type
      type(c_funptr), value :: apply
      type(c_funptr), value :: apply_adjoint
      type(c_ptr), value :: context
      type(c_funptr), value :: destroy
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateShell
    function TenonLinearOpCreateType(domain, range, domain_type, range_type, name, parameters, &
      op) bind(C, name="TenonLinearOpCreateType") result(answer)
      import
      type(c_ptr), value :: domain
      type(c_ptr), value :: range
      integer(c_int), value :: domain_type
      integer(c_int), value :: range_type
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: parameters
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateType
    function TenonLinearOpCreateJacobian(layer, x, &
      op) bind(C, name="TenonLinearOpCreateJacobian") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: x
      type(c_ptr), intent(inout) :: op
      integer(c_int) :: answer
    end function TenonLinearOpCreateJacobian
    function TenonLinearOpJacobianSetPoint(op, x) bind(C, name="TenonLinearOpJacobianSetPoint") result(answer)
      import
      type(c_ptr), value :: op
      type(c_ptr), value :: x
      integer(c_int) :: answer
    end function TenonLinearOpJacobianSetPoint
    function TenonLinksCreateFromTiles(comm, ndim, tiles, low, high, count, places, &
      links) bind(C, name="TenonFLinksCreateFromTiles") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: tiles(*)
      integer(c_int), intent(in) :: low(*)
      integer(c_int), intent(in), optional :: high(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: places(*)
      type(c_ptr), intent(inout) :: links
      integer(c_int) :: answer
    end function TenonLinksCreateFromTiles
    function TenonLinksCreateFromSides(comm, ndim, count, patches, sides, turned, &
      links) bind(C, name="TenonFLinksCreateFromSides") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: ndim
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: patches(*)
      integer(c_int), intent(in) :: sides(*)
      integer(c_int), intent(in), optional :: turned(*)
      type(c_ptr), intent(inout) :: links
      integer(c_int) :: answer
    end function TenonLinksCreateFromSides
    function TenonLinksGetLayout(links, ndim, shape, &
      layout) bind(C, name="TenonLinksGetLayout") result(answer)
      import
      type(c_ptr), value :: links
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonLinksGetLayout
    function TenonLayerSetLinks(layer, links) bind(C, name="TenonLayerSetLinks") result(answer)
      import
      type(c_ptr), value :: layer
      type(c_ptr), value :: links
      integer(c_int) :: answer
    end function TenonLayerSetLinks
    function TenonLinksDestroy(links) bind(C, name="TenonLinksDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: links
      integer(c_int) :: answer
    end function TenonLinksDestroy
    function TenonLogEnable(on) bind(C, name="TenonLogEnable") result(answer)
      import
      integer(c_int), value :: on
      integer(c_int) :: answer
    end function TenonLogEnable
    function TenonLogEventRegister(name, event) bind(C, name="TenonLogEventRegister") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: event
      integer(c_int) :: answer
    end function TenonLogEventRegister
    function TenonLogEventBegin(event) bind(C, name="TenonLogEventBegin") result(answer)
      import
      integer(c_int), value :: event
      integer(c_int) :: answer
    end function TenonLogEventBegin
    function TenonLogEventEnd(event) bind(C, name="TenonLogEventEnd") result(answer)
      import
      integer(c_int), value :: event
      integer(c_int) :: answer
    end function TenonLogEventEnd
    function TenonLogFlops(flops) bind(C, name="TenonLogFlops") result(answer)
      import
      real(c_double), value :: flops
      integer(c_int) :: answer
    end function TenonLogFlops
    function TenonLogGetWork(seconds, flops, messages, bytes) bind(C, name="TenonLogGetWork") result(answer)
      import
      real(c_double), intent(out), optional :: seconds
      real(c_double), intent(out), optional :: flops
      integer(c_int64_t), intent(out), optional :: messages
      integer(c_int64_t), intent(out), optional :: bytes
      integer(c_int) :: answer
    end function TenonLogGetWork
    function TenonLogGetRecords(text, length, needed) bind(C, name="TenonLogGetRecords") result(answer)
      import
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonLogGetRecords
    function TenonLogStagePush(name) bind(C, name="TenonLogStagePush") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function TenonLogStagePush
    function TenonLogStagePop() bind(C, name="TenonLogStagePop") result(answer)
      import
      integer(c_int) :: answer
    end function TenonLogStagePop
    function TenonProgressShow(name, done, total, value_name, &
      value) bind(C, name="TenonProgressShow") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: done
      integer(c_int64_t), value :: total
      character(kind=c_char), intent(in), optional :: value_name(*)
      real(c_double), value :: value
      integer(c_int) :: answer
    end function TenonProgressShow
    function TenonMachineCreate(name, levels, names, sizes, &
      machine) bind(C, name="TenonMachineCreate") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: levels
      type(c_ptr), intent(in) :: names(*)
      integer(c_int64_t), intent(in) :: sizes(*)
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineCreate
    function TenonMachineCreateFromFile(name_or_path, nodes, &
      machine) bind(C, name="TenonMachineCreateFromFile") result(answer)
      import
      character(kind=c_char), intent(in) :: name_or_path(*)
      integer(c_int64_t), value :: nodes
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineCreateFromFile
    function TenonMachineCreateLocal(machine) bind(C, name="TenonMachineCreateLocal") result(answer)
      import
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineCreateLocal
    function TenonMachineCreateFromComm(comm, &
      machine) bind(C, name="TenonFMachineCreateFromComm") result(answer)
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineCreateFromComm
    function TenonMachineMeasure(comm, space, rounds, &
      machine) bind(C, name="TenonFMachineMeasure") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: space
      integer(c_int), value :: rounds
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineMeasure
    function TenonMachineSave(machine, path) bind(C, name="TenonMachineSave") result(answer)
      import
      type(c_ptr), value :: machine
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonMachineSave
    function TenonMachineAddLink(machine, name, level, units, bandwidth, latency, &
      rule) bind(C, name="TenonMachineAddLink") result(answer)
      import
      type(c_ptr), value :: machine
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: level
      integer(c_int64_t), value :: units
      real(c_double), value :: bandwidth
      real(c_double), value :: latency
      integer(c_int), value :: rule
      integer(c_int) :: answer
    end function TenonMachineAddLink
    function TenonMachineGetCounts(machine, levels, links, &
      devices) bind(C, name="TenonMachineGetCounts") result(answer)
      import
      type(c_ptr), value :: machine
      integer(c_int), intent(out), optional :: levels
      integer(c_int), intent(out), optional :: links
      integer(c_int64_t), intent(out), optional :: devices
      integer(c_int) :: answer
    end function TenonMachineGetCounts
    function TenonMachineGetLevel(machine, level, name, length, needed, &
      size) bind(C, name="TenonMachineGetLevel") result(answer)
      import
      type(c_ptr), value :: machine
      integer(c_int), value :: level
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int64_t), intent(out), optional :: size
      integer(c_int) :: answer
    end function TenonMachineGetLevel
    function TenonMachineGetLink(machine, link, name, length, needed, level, units, bandwidth, &
      latency) bind(C, name="TenonMachineGetLink") result(answer)
      import
      type(c_ptr), value :: machine
      integer(c_int), value :: link
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int), intent(out), optional :: level
      integer(c_int64_t), intent(out), optional :: units
      real(c_double), intent(out), optional :: bandwidth
      real(c_double), intent(out), optional :: latency
      integer(c_int) :: answer
    end function TenonMachineGetLink
    function TenonMachineGetRanks(machine, ranks) bind(C, name="TenonMachineGetRanks") result(answer)
      import
      type(c_ptr), value :: machine
      integer(c_int64_t), intent(out) :: ranks(*)
      integer(c_int) :: answer
    end function TenonMachineGetRanks
    function TenonMachineDestroy(machine) bind(C, name="TenonMachineDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: machine
      integer(c_int) :: answer
    end function TenonMachineDestroy
    function TenonObjectSetName(object, name) bind(C, name="TenonObjectSetName") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int) :: answer
    end function TenonObjectSetName
    function TenonObjectGetName(object, name, length, &
      needed) bind(C, name="TenonObjectGetName") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonObjectGetName
    function TenonObjectSetOptionsPrefix(object, &
      prefix) bind(C, name="TenonObjectSetOptionsPrefix") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in), optional :: prefix(*)
      integer(c_int) :: answer
    end function TenonObjectSetOptionsPrefix
    function TenonObjectGetOptionsPrefix(object, prefix, length, &
      needed) bind(C, name="TenonObjectGetOptionsPrefix") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(out), optional :: prefix(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonObjectGetOptionsPrefix
    function TenonObjectGetClass(object, name, length, &
      needed) bind(C, name="TenonObjectGetClass") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonObjectGetClass
    function TenonObjectGetType(object, type, length, &
      needed) bind(C, name="TenonObjectGetType") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(out), optional :: type(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonObjectGetType
    function TenonObjectGetComm(object, comm) bind(C, name="TenonFObjectGetComm") result(answer)
      import
      type(c_ptr), value :: object
      integer(c_int), intent(out) :: comm
      integer(c_int) :: answer
    end function TenonObjectGetComm
    function TenonObjectRetain(object) bind(C, name="TenonObjectRetain") result(answer)
      import
      type(c_ptr), value :: object
      integer(c_int) :: answer
    end function TenonObjectRetain
    function TenonObjectGetReferences(object, &
      references) bind(C, name="TenonObjectGetReferences") result(answer)
      import
      type(c_ptr), value :: object
      integer(c_int), intent(out) :: references
      integer(c_int) :: answer
    end function TenonObjectGetReferences
    function TenonObjectView(object) bind(C, name="TenonObjectView") result(answer)
      import
      type(c_ptr), value :: object
      integer(c_int) :: answer
    end function TenonObjectView
    function TenonObjectSetIntegers(object, name, length, &
      values) bind(C, name="TenonObjectSetIntegers") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int) :: answer
    end function TenonObjectSetIntegers
    function TenonObjectSetReal(object, name, value) bind(C, name="TenonObjectSetReal") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: answer
    end function TenonObjectSetReal
    function TenonObjectSetText(object, name, text) bind(C, name="TenonObjectSetText") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int) :: answer
    end function TenonObjectSetText
    function TenonObjectSetBool(object, name, value) bind(C, name="TenonObjectSetBool") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: value
      integer(c_int) :: answer
    end function TenonObjectSetBool
    function TenonObjectSetFromOptions(object) bind(C, name="TenonObjectSetFromOptions") result(answer)
      import
      type(c_ptr), value :: object
      integer(c_int) :: answer
    end function TenonObjectSetFromOptions
    function TenonObjectGetIntegers(object, name, length, values, &
      count) bind(C, name="TenonObjectGetIntegers") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: values(*)
      integer(c_int64_t), intent(out), optional :: count
      integer(c_int) :: answer
    end function TenonObjectGetIntegers
    function TenonObjectGetReal(object, name, value) bind(C, name="TenonObjectGetReal") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
      integer(c_int) :: answer
    end function TenonObjectGetReal
    function TenonObjectGetText(object, name, text, length, &
      needed) bind(C, name="TenonObjectGetText") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonObjectGetText
    function TenonObjectGetBool(object, name, value) bind(C, name="TenonObjectGetBool") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: value
      integer(c_int) :: answer
    end function TenonObjectGetBool
    function TenonObjectIsSet(object, name, is_set) bind(C, name="TenonObjectIsSet") result(answer)
      import
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: is_set
      integer(c_int) :: answer
    end function TenonObjectIsSet
    function TenonOptimizerCreate(layer, type, optimizer) bind(C, name="TenonOptimizerCreate") result(answer)
      import
      type(c_ptr), value :: layer
      character(kind=c_char), intent(in) :: type(*)
      type(c_ptr), intent(inout) :: optimizer
      integer(c_int) :: answer
    end function TenonOptimizerCreate
    function TenonOptimizerSetLearningRate(optimizer, &
      rate) bind(C, name="TenonOptimizerSetLearningRate") result(answer)
      import
      type(c_ptr), value :: optimizer
      real(c_double), value :: rate
      integer(c_int) :: answer
    end function TenonOptimizerSetLearningRate
    function TenonOptimizerReport(optimizer, loss, stop) bind(C, name="TenonOptimizerReport") result(answer)
      import
      type(c_ptr), value :: optimizer
      real(c_double), value :: loss
      integer(c_int), intent(out), optional :: stop
      integer(c_int) :: answer
    end function TenonOptimizerReport
    function TenonOptimizerGetLearningRate(optimizer, &
      rate) bind(C, name="TenonOptimizerGetLearningRate") result(answer)
      import
      type(c_ptr), value :: optimizer
      real(c_double), intent(out) :: rate
      integer(c_int) :: answer
    end function TenonOptimizerGetLearningRate
    function TenonOptimizerClipGradientNorm(optimizer, maximum, &
      norm) bind(C, name="TenonOptimizerClipGradientNorm") result(answer)
      import
      type(c_ptr), value :: optimizer
      real(c_double), value :: maximum
      real(c_double), intent(out), optional :: norm
      integer(c_int) :: answer
    end function TenonOptimizerClipGradientNorm
    function TenonOptimizerStep(optimizer) bind(C, name="TenonOptimizerStep") result(answer)
      import
      type(c_ptr), value :: optimizer
      integer(c_int) :: answer
    end function TenonOptimizerStep
    function TenonOptimizerStepClosure(optimizer, closure, context, &
      loss) bind(C, name="TenonOptimizerStepClosure") result(answer)
      import
      type(c_ptr), value :: optimizer
      type(c_funptr), value :: closure
      type(c_ptr), value :: context
      real(c_double), intent(out), optional :: loss
      integer(c_int) :: answer
    end function TenonOptimizerStepClosure
    function TenonOptimizerGetSteps(optimizer, steps) bind(C, name="TenonOptimizerGetSteps") result(answer)
      import
      type(c_ptr), value :: optimizer
      integer(c_int64_t), intent(out) :: steps
      integer(c_int) :: answer
    end function TenonOptimizerGetSteps
    function TenonOptimizerDestroy(optimizer) bind(C, name="TenonOptimizerDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: optimizer
      integer(c_int) :: answer
    end function TenonOptimizerDestroy
    function TenonOptionsDeclare(owner, name, type, default_value, help, &
      choices) bind(C, name="TenonOptionsDeclare") result(answer)
      import
      character(kind=c_char), intent(in) :: owner(*)
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      character(kind=c_char), intent(in), optional :: default_value(*)
      character(kind=c_char), intent(in), optional :: help(*)
      character(kind=c_char), intent(in), optional :: choices(*)
      integer(c_int) :: answer
    end function TenonOptionsDeclare
    function TenonOptionsOwnCommandLine() bind(C, name="TenonOptionsOwnCommandLine") result(answer)
      import
      integer(c_int) :: answer
    end function TenonOptionsOwnCommandLine
    function TenonOptionsSet(key, value) bind(C, name="TenonOptionsSet") result(answer)
      import
      character(kind=c_char), intent(in) :: key(*)
      character(kind=c_char), intent(in), optional :: value(*)
      integer(c_int) :: answer
    end function TenonOptionsSet
    function TenonOptionsInsertFile(path) bind(C, name="TenonOptionsInsertFile") result(answer)
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonOptionsInsertFile
    function TenonOptionsGetFlag(prefix, name, value) bind(C, name="TenonOptionsGetFlag") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: value
      integer(c_int) :: answer
    end function TenonOptionsGetFlag
    function TenonOptionsGetInt(prefix, name, value) bind(C, name="TenonOptionsGetInt") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: value
      integer(c_int) :: answer
    end function TenonOptionsGetInt
    function TenonOptionsGetIntegers(prefix, name, length, values, &
      count) bind(C, name="TenonOptionsGetIntegers") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: values(*)
      integer(c_int64_t), intent(out), optional :: count
      integer(c_int) :: answer
    end function TenonOptionsGetIntegers
    function TenonOptionsGetReal(prefix, name, value) bind(C, name="TenonOptionsGetReal") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
      integer(c_int) :: answer
    end function TenonOptionsGetReal
    function TenonOptionsGetString(prefix, name, value, length, &
      needed) bind(C, name="TenonOptionsGetString") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(out), optional :: value(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonOptionsGetString
    function TenonOptionsHas(prefix, name, given) bind(C, name="TenonOptionsHas") result(answer)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: given
      integer(c_int) :: answer
    end function TenonOptionsHas
    function TenonOptionsGetDeclaredCount(count) bind(C, name="TenonOptionsGetDeclaredCount") result(answer)
      import
      integer(c_int), intent(out) :: count
      integer(c_int) :: answer
    end function TenonOptionsGetDeclaredCount
    function TenonOptionsGetDeclaredText(index, which, text, length, &
      needed) bind(C, name="TenonOptionsGetDeclaredText") result(answer)
      import
      integer(c_int), value :: index
      integer(c_int), value :: which
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonOptionsGetDeclaredText
    function TenonOptionsHelp(word) bind(C, name="TenonOptionsHelp") result(answer)
      import
      character(kind=c_char), intent(in), optional :: word(*)
      integer(c_int) :: answer
    end function TenonOptionsHelp
    function TenonSetOutputHandler(handler, context) bind(C, name="TenonSetOutputHandler") result(answer)
      import
      type(c_funptr), value :: handler
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function TenonSetOutputHandler
    function TenonSetErrorOutputHandler(handler, &
      context) bind(C, name="TenonSetErrorOutputHandler") result(answer)
      import
      type(c_funptr), value :: handler
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function TenonSetErrorOutputHandler
    function TenonWriteFile(path, text, length) bind(C, name="TenonWriteFile") result(answer)
      import
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int) :: answer
    end function TenonWriteFile
    function TenonPartitionCreate(comm, axes, extents, &
      partition) bind(C, name="TenonFPartitionCreate") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: extents(*)
      type(c_ptr), intent(inout) :: partition
      integer(c_int) :: answer
    end function TenonPartitionCreate
    function TenonPartitionCreateFromRanks(comm, axes, extents, ranks, &
      partition) bind(C, name="TenonFPartitionCreateFromRanks") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: axes
      integer(c_int), intent(in) :: extents(*)
      integer(c_int), intent(in) :: ranks(*)
      type(c_ptr), intent(inout) :: partition
      integer(c_int) :: answer
    end function TenonPartitionCreateFromRanks
    function TenonPartitionCreatePlaced(comm, axes, levels, matrix, &
      partition) bind(C, name="TenonFPartitionCreatePlaced") result(answer)
      import
      integer(c_int), value :: comm
      integer(c_int), value :: axes
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: matrix(*)
      type(c_ptr), intent(inout) :: partition
      integer(c_int) :: answer
    end function TenonPartitionCreatePlaced
    function TenonPartitionGetAxes(partition, axes) bind(C, name="TenonPartitionGetAxes") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int), intent(out) :: axes
      integer(c_int) :: answer
    end function TenonPartitionGetAxes
    function TenonPartitionGetExtents(partition, &
      extents) bind(C, name="TenonPartitionGetExtents") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int), intent(out) :: extents(*)
      integer(c_int) :: answer
    end function TenonPartitionGetExtents
    function TenonPartitionGetCoordinates(partition, &
      coordinates) bind(C, name="TenonPartitionGetCoordinates") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int), intent(out) :: coordinates(*)
      integer(c_int) :: answer
    end function TenonPartitionGetCoordinates
    function TenonPartitionGetAxisComm(partition, axis, &
      comm) bind(C, name="TenonFPartitionGetAxisComm") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int), value :: axis
      integer(c_int), intent(out) :: comm
      integer(c_int) :: answer
    end function TenonPartitionGetAxisComm
    function TenonPartitionShareMemory(partition, memory, &
      bytes) bind(C, name="TenonPartitionShareMemory") result(answer)
      import
      type(c_ptr), value :: partition
      type(c_ptr), value :: memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: answer
    end function TenonPartitionShareMemory
    function TenonPartitionUnshareMemory(partition, &
      memory) bind(C, name="TenonPartitionUnshareMemory") result(answer)
      import
      type(c_ptr), value :: partition
      type(c_ptr), value :: memory
      integer(c_int) :: answer
    end function TenonPartitionUnshareMemory
    function TenonPartitionSetStream(partition, stream) bind(C, name="TenonPartitionSetStream") result(answer)
      import
      type(c_ptr), value :: partition
      type(c_ptr), value :: stream
      integer(c_int) :: answer
    end function TenonPartitionSetStream
    function TenonPartitionResetStream(partition) bind(C, name="TenonPartitionResetStream") result(answer)
      import
      type(c_ptr), value :: partition
      integer(c_int) :: answer
    end function TenonPartitionResetStream
    function TenonPartitionDestroy(partition) bind(C, name="TenonPartitionDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: partition
      integer(c_int) :: answer
    end function TenonPartitionDestroy
    function TenonPlanCreate(network, batch, plan) bind(C, name="TenonPlanCreate") result(answer)
      import
      type(c_ptr), value :: network
      integer(c_int64_t), value :: batch
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: answer
    end function TenonPlanCreate
    function TenonPlanSetInput(plan, layout) bind(C, name="TenonPlanSetInput") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: layout
      integer(c_int) :: answer
    end function TenonPlanSetInput
    function TenonPlanSetInputAt(plan, input, layout) bind(C, name="TenonPlanSetInputAt") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: input
      type(c_ptr), value :: layout
      integer(c_int) :: answer
    end function TenonPlanSetInputAt
    function TenonPlanSetOutput(plan, layout) bind(C, name="TenonPlanSetOutput") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: layout
      integer(c_int) :: answer
    end function TenonPlanSetOutput
    function TenonPlanSetMachine(plan, machine) bind(C, name="TenonPlanSetMachine") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: machine
      integer(c_int) :: answer
    end function TenonPlanSetMachine
    function TenonPlanFix(plan, layer, word) bind(C, name="TenonPlanFix") result(answer)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: layer(*)
      character(kind=c_char), intent(in) :: word(*)
      integer(c_int) :: answer
    end function TenonPlanFix
    function TenonPlanSearch(plan) bind(C, name="TenonPlanSearch") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: answer
    end function TenonPlanSearch
    function TenonPlanSetUp(plan) bind(C, name="TenonPlanSetUp") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: answer
    end function TenonPlanSetUp
    function TenonPlanSave(plan, path) bind(C, name="TenonPlanSave") result(answer)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonPlanSave
    function TenonPlanLoad(plan, path) bind(C, name="TenonPlanLoad") result(answer)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function TenonPlanLoad
    function TenonPlanGetNumber(plan, layer, name, value) bind(C, name="TenonPlanGetNumber") result(answer)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in), optional :: layer(*)
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
      integer(c_int) :: answer
    end function TenonPlanGetNumber
    function TenonPlanGetLayerName(plan, index, name, length, &
      needed) bind(C, name="TenonPlanGetLayerName") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(out), optional :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonPlanGetLayerName
    function TenonPlanGetText(plan, layer, name, text, length, &
      needed) bind(C, name="TenonPlanGetText") result(answer)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: layer(*)
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(out), optional :: text(*)
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(out), optional :: needed
      integer(c_int) :: answer
    end function TenonPlanGetText
    function TenonPlanReport(plan) bind(C, name="TenonPlanReport") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: answer
    end function TenonPlanReport
    function TenonPlanCalibrate(plan, latency, bandwidth, &
      flops) bind(C, name="TenonPlanCalibrate") result(answer)
      import
      type(c_ptr), value :: plan
      real(c_double), intent(out), optional :: latency
      real(c_double), intent(out), optional :: bandwidth
      real(c_double), intent(out), optional :: flops
      integer(c_int) :: answer
    end function TenonPlanCalibrate
    function TenonPlanSetRatesFrom(plan, measured) bind(C, name="TenonPlanSetRatesFrom") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: measured
      integer(c_int) :: answer
    end function TenonPlanSetRatesFrom
    function TenonPlanGetLayer(plan, layer) bind(C, name="TenonPlanGetLayer") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: layer
      integer(c_int) :: answer
    end function TenonPlanGetLayer
    function TenonPlanGetInputLayout(plan, layout) bind(C, name="TenonPlanGetInputLayout") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonPlanGetInputLayout
    function TenonPlanGetInputLayoutAt(plan, input, &
      layout) bind(C, name="TenonPlanGetInputLayoutAt") result(answer)
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: input
      type(c_ptr), intent(inout) :: layout
      integer(c_int) :: answer
    end function TenonPlanGetInputLayoutAt
    function TenonPlanApply(plan, x, y) bind(C, name="TenonPlanApply") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int) :: answer
    end function TenonPlanApply
    function TenonPlanApplyTangent(plan, dx, dy) bind(C, name="TenonPlanApplyTangent") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: dx
      type(c_ptr), value :: dy
      integer(c_int) :: answer
    end function TenonPlanApplyTangent
    function TenonPlanApplyAdjoint(plan, dy, dx) bind(C, name="TenonPlanApplyAdjoint") result(answer)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: dy
      type(c_ptr), value :: dx
      integer(c_int) :: answer
    end function TenonPlanApplyAdjoint
    function TenonPlanDestroy(plan) bind(C, name="TenonPlanDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: answer
    end function TenonPlanDestroy
    function TenonTrainerCreate(network, loss, optimizer, &
      trainer) bind(C, name="TenonTrainerCreate") result(answer)
      import
      type(c_ptr), value :: network
      type(c_ptr), value :: loss
      type(c_ptr), value :: optimizer
      type(c_ptr), intent(inout) :: trainer
      integer(c_int) :: answer
    end function TenonTrainerCreate
    function TenonTrainerSetDataset(trainer, dataset) bind(C, name="TenonTrainerSetDataset") result(answer)
      import
      type(c_ptr), value :: trainer
      type(c_ptr), value :: dataset
      integer(c_int) :: answer
    end function TenonTrainerSetDataset
    function TenonTrainerSetBatches(trainer, count, x, target, function, context, &
      destroy) bind(C, name="TenonTrainerSetBatches") result(answer)
      import
      type(c_ptr), value :: trainer
      integer(c_int64_t), value :: count
      type(c_ptr), value :: x
      type(c_ptr), value :: target
      type(c_funptr), value :: function
      type(c_ptr), value :: context
      type(c_funptr), value :: destroy
      integer(c_int) :: answer
    end function TenonTrainerSetBatches
    function TenonTrainerSetValidation(trainer, &
      dataset) bind(C, name="TenonTrainerSetValidation") result(answer)
      import
      type(c_ptr), value :: trainer
      type(c_ptr), value :: dataset
      integer(c_int) :: answer
    end function TenonTrainerSetValidation
    function TenonTrainerSetCallback(trainer, callback, context, &
      destroy) bind(C, name="TenonTrainerSetCallback") result(answer)
      import
      type(c_ptr), value :: trainer
      type(c_funptr), value :: callback
      type(c_ptr), value :: context
      type(c_funptr), value :: destroy
      integer(c_int) :: answer
    end function TenonTrainerSetCallback
    function TenonTrainerSetCheckpoint(trainer, checkpoint, &
      folder) bind(C, name="TenonTrainerSetCheckpoint") result(answer)
      import
      type(c_ptr), value :: trainer
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: folder(*)
      integer(c_int) :: answer
    end function TenonTrainerSetCheckpoint
    function TenonTrainerRun(trainer, epochs) bind(C, name="TenonTrainerRun") result(answer)
      import
      type(c_ptr), value :: trainer
      integer(c_int64_t), value :: epochs
      integer(c_int) :: answer
    end function TenonTrainerRun
    function TenonTrainerStop(trainer) bind(C, name="TenonTrainerStop") result(answer)
      import
      type(c_ptr), value :: trainer
      integer(c_int) :: answer
    end function TenonTrainerStop
    function TenonTrainerGetProgress(trainer, epochs, &
      steps) bind(C, name="TenonTrainerGetProgress") result(answer)
      import
      type(c_ptr), value :: trainer
      integer(c_int64_t), intent(out), optional :: epochs
      integer(c_int64_t), intent(out), optional :: steps
      integer(c_int) :: answer
    end function TenonTrainerGetProgress
    function TenonTrainerGetLosses(trainer, step, epoch, &
      validation) bind(C, name="TenonTrainerGetLosses") result(answer)
      import
      type(c_ptr), value :: trainer
      real(c_double), intent(out), optional :: step
      real(c_double), intent(out), optional :: epoch
      real(c_double), intent(out), optional :: validation
      integer(c_int) :: answer
    end function TenonTrainerGetLosses
    function TenonTrainerDestroy(trainer) bind(C, name="TenonTrainerDestroy") result(answer)
      import
      type(c_ptr), intent(inout) :: trainer
      integer(c_int) :: answer
    end function TenonTrainerDestroy
  end interface
end module tenon_c
