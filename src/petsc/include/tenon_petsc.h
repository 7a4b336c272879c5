/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Tenon for PETSc programs: grids (DMDA) as layouts, meshes (DMPlex) as index maps and
 *         edges, vectors as tensors without a copy, operators and Jacobians as matrices, losses as
 *         objectives of TAO.
 *
 *  The library libtenon_petsc is separate: link it with libtenon and PETSc (pkg-config
 *  tenon_petsc, component PETSc of the CMake package). PetscScalar must be real; its type is the
 *  data type of the tensors.
 *
 *  Functions return PETSc's error codes, for PetscCall(). An error of Tenon becomes PETSC_ERR_LIB
 *  with Tenon's message, which PETSc's handler prints once; until PetscFinalize() Tenon's own only
 *  returns the code. An argument that is NULL is PETSC_ERR_ARG_NULL, a handle of Tenon's too; an
 *  object of PETSc's of another class is PETSC_ERR_ARG_WRONG, in every build of PETSc; a handle of
 *  Tenon's that is not valid is PETSC_ERR_LIB. After an error every array is restored that the call
 *  has taken. PetscErrorCode functions of a program call Tenon's functions by TenonPetscCall().
 *
 *  Where several ranks apply a layer, an operator or a Mat, an error of Tenon that the others may
 *  not know of ends the program by MPI_Abort(), as everywhere in Tenon: they may be waiting for
 *  this rank. Tenon prints it, and PETSc's handler is not called. TenonSetFatalErrorHandler() sets
 *  what is done instead.
 *
 *  Set-up, applications and adjoints are the events TenonSetUp, TenonApply and TenonAdjoint of
 *  -log_view, with Tenon's flops and messages.
 */
#ifndef TENON_PETSC_H
#define TENON_PETSC_H

#include <petscdmda.h>
#include <petscmat.h>
#include <petscsf.h>
#include <petsctao.h>
#include <tenon.h>

#if defined(PETSC_USE_COMPLEX)
#error "tenon_petsc.h needs a PETSc with real numbers (PetscScalar is complex here)"
#endif

/** @brief Data type of tensors that share the array of a Vec. */
#if defined(PETSC_USE_REAL_SINGLE)
#define TENON_PETSC_SCALAR TENON_FLOAT32
#else
#define TENON_PETSC_SCALAR TENON_FLOAT64
#endif

/** @brief Turns an error of Tenon into one of PETSc's. Not collective.
 *
 *  TenonPetscCall() calls it.
 *
 *  @param[in] code      error code of Tenon
 *  @param[in] function  name of the calling function
 *  @param[in] file      source file
 *  @param[in] line      line
 *  @return PETSC_ERR_LIB after the call of PETSc's error handler; 0 if code is TENON_SUCCESS
 */
TENON_EXTERN PetscErrorCode TenonPetscError(TenonErrorCode code, const char* function,
                                            const char* file, int line) TENON_NOEXCEPT;

/** @brief Calls Tenon in a function that returns a PetscErrorCode. */
#define TenonPetscCall(call)                                                                       \
  do {                                                                                             \
    TenonErrorCode tenon_code_ = (TenonNoteCaller(__func__, __FILE__, __LINE__), (call));          \
    if (tenon_code_ != TENON_SUCCESS)                                                              \
      return TenonPetscError(tenon_code_, __func__, __FILE__, __LINE__);                           \
  } while (0)

/** @brief Initialises Tenon on PETSC_COMM_WORLD. Collective on PETSC_COMM_WORLD.
 *
 *  Tenon's options, which begin with -tenon_, are those of PETSc's database: of the command line,
 *  PETSC_OPTIONS, -options_file and .petscrc. PETSc marks them as used. They take precedence over
 *  those of TENON_OPTIONS. PetscFinalize() finalises Tenon.
 *
 *  @param[in] help  text that -tenon_help prints above the options. May be NULL, in which case
 *                   there is none.
 */
TENON_EXTERN PetscErrorCode TenonPetscInitialize(const char* help) TENON_NOEXCEPT;

/** @name Grids and vectors
 *
 *  A grid of d dimensions has layouts of d + 2: batch (of extent 1), channel (the grid's degrees
 *  of freedom), then z, y, x, as many as the grid has. The memory layout is PETSc's, with the
 *  channel last: a tensor on a Vec has the strides of PETSc's array. Each rank has its own box,
 *  in any order of ranks and with any widths. Layers copy such an array once in and once out;
 *  operators do not; columnmlp layers read and write it in place.
 */
/**@{*/

/** @brief Creates the layout of a grid's global vectors. Collective on dm.
 *
 *  Its communicator is PETSC_COMM_WORLD for a grid created there, and otherwise PETSc's duplicate,
 *  PetscObjectComm((PetscObject)dm): create layers on the same one.
 *
 *  @param[in]  dm      DMDA of 1 to 3 dimensions, set up
 *  @param[out] layout  new layout; destroy it with TenonLayoutDestroy()
 *  @return PETSC_ERR_SUP             dm is not a DMDA
 *  @return PETSC_ERR_ARG_WRONGSTATE  dm is not set up
 *  @return PETSC_ERR_ORDER           Tenon is not initialised
 */
TENON_EXTERN PetscErrorCode TenonPetscLayoutFromDM(DM dm, TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates the layout of a batch of a grid's global vectors. Collective on dm.
 *
 *  A Vec that contains on each rank the elements of `states` global vectors one after the other
 *  (VecCreateMPI() with `states` times the local size) is a tensor of `states` samples, without a
 *  copy. VecPlaceArray() with the address of one of them makes it a global vector again.
 *
 *  @param[in]  dm      DMDA of 1 to 3 dimensions, set up
 *  @param[in]  states  number of states, the batch; must be >= 1, the same on all ranks
 *  @param[out] layout  new layout; destroy it with TenonLayoutDestroy()
 *  @return PETSC_ERR_SUP             dm is not a DMDA
 *  @return PETSC_ERR_ARG_OUTOFRANGE  states is below 1
 */
TENON_EXTERN PetscErrorCode TenonPetscBatchLayoutFromDM(DM dm, PetscInt states,
                                                        TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates the layout of a grid's local vectors, with their ghost points. Collective on dm.
 *
 *  The halo has the stencil's width. Boundaries are translated to those of Tenon: NONE is none,
 *  GHOSTED is values (set by the user), MIRROR is reflect, PERIODIC is periodic.
 *
 *  The halo of Tenon includes its corners, which its exchange fills. DMGlobalToLocal() fills
 *  those of a box stencil, and does not change those of a star stencil.
 *
 *  @param[in]  dm      DMDA of 1 to 3 dimensions, set up
 *  @param[out] layout  new layout; destroy it with TenonLayoutDestroy()
 *  @return PETSC_ERR_SUP  dm is not a DMDA, or has a boundary TWIST
 */
TENON_EXTERN PetscErrorCode TenonPetscGhostedLayoutFromDM(DM dm,
                                                          TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Makes a tensor use the array of a Vec, without a copy. Logically collective on vec.
 *
 *  A global vector of the grid has no ghost points; in a local one they surround the tensor's
 *  elements. The Vec must not be used between this call and TenonPetscRestoreVec(). Both objects
 *  are referenced until then and can be destroyed before.
 *
 *  @param[in] x    tensor in a layout of dm (global or ghosted), of data type TENON_PETSC_SCALAR
 *  @param[in] dm   DMDA of the vector, or DMPlex, whose global vectors have the rows of x in order
 *  @param[in] vec  global or local vector of dm, in PETSc's order (not the natural one), or as many
 *                  one after the other as x has samples
 *  @return PETSC_ERR_ARG_SIZ         vec has the size of neither a global nor a local vector of dm
 *  @return PETSC_ERR_ARG_WRONG       x has another data type
 *  @return PETSC_ERR_ARG_INCOMP      x is not in a layout of dm
 *  @return PETSC_ERR_ARG_WRONGSTATE  x has a Vec already
 */
TENON_EXTERN PetscErrorCode TenonPetscPlaceVec(TenonDTensor x, DM dm, Vec vec) TENON_NOEXCEPT;

/** @brief Makes a tensor use the array of a Vec for reading. Not collective.
 *
 *  See TenonPetscPlaceVec(). The Vec can be read in the meantime.
 *
 *  @param[in] x    tensor in a layout of dm
 *  @param[in] dm   DMDA or DMPlex of the vector
 *  @param[in] vec  global or local vector of dm
 */
TENON_EXTERN PetscErrorCode TenonPetscPlaceVecRead(TenonDTensor x, DM dm, Vec vec) TENON_NOEXCEPT;

/** @brief Ends the access of TenonPetscPlaceVec(). Logically collective on vec.
 *  @param[in] x    tensor, which has its own array again
 *  @param[in] vec  vector, whose state has changed
 *  @return PETSC_ERR_ARG_WRONGSTATE  the tensor does not use the array of vec, or it was placed by
 *                                    the other call */
TENON_EXTERN PetscErrorCode TenonPetscRestoreVec(TenonDTensor x, Vec vec) TENON_NOEXCEPT;

/** @brief Ends the access of TenonPetscPlaceVecRead(). Not collective.
 *  @param[in] x    tensor, which has its own array again
 *  @param[in] vec  vector
 *  @return PETSC_ERR_ARG_WRONGSTATE  the tensor does not use the array of vec, or it was placed by
 *                                    the other call */
TENON_EXTERN PetscErrorCode TenonPetscRestoreVecRead(TenonDTensor x, Vec vec) TENON_NOEXCEPT;
/**@}*/

/** @name Meshes
 *
 *  The points of one height of a DMPlex are the nodes of an index map: those that a rank owns, in
 *  the order of the chart, followed by its ghosts. This is the order of a global vector whose
 *  section has the same degrees of freedom on each point of this height and none on others; it is
 *  a tensor [nodes, degrees of freedom] without a copy (TenonIndexMapGetLayouts(),
 *  TenonPetscPlaceVec()). Cells beyond the boundary (DMPlexConstructGhostCells()) are not nodes,
 *  since global vectors do not contain them. Ids are the numbers of DMPlexCreatePointNumbering(),
 *  which depend on the partition.
 */
/**@{*/

/** @brief Creates the index map of a mesh's points of one height. Collective on dm.
 *
 *  Ghosts are those of the overlap; without overlap, the points between ranks that another rank
 *  owns.
 *
 *  @param[in]  dm      DMPlex, distributed with any overlap
 *  @param[in]  height  height of the points: 0 for cells, 1 for faces, the depth for vertices
 *  @param[out] nodes   new map; destroy it with TenonIndexMapDestroy()
 *  @return PETSC_ERR_SUP             dm is not a DMPlex
 *  @return PETSC_ERR_ARG_OUTOFRANGE  there is no such height
 */
TENON_EXTERN PetscErrorCode TenonPetscIndexMapFromPlex(DM dm, PetscInt height,
                                                       TenonIndexMap* nodes) TENON_NOEXCEPT;

/** @brief Creates the index map of a mesh's points of one height and the edges between those that
 *         meet. Collective on dm.
 *
 *  Two points are joined, in both directions, if they meet at a point of the height `through`:
 *  cells (height 0) at faces (1), vertices (height d in d dimensions) at mesh edges (d-1). The
 *  map is that of TenonPetscIndexMapFromPlex(); without overlap, cells on the other side of faces
 *  between ranks are additional ghosts. Edges are stored by the rank of their target, except if
 *  through < height and there is no overlap: then several ranks can store an edge, each with a
 *  share (TenonEdgesCreateShared()).
 *
 *  @param[in]  dm       DMPlex with all points between cells and vertices, distributed with any
 *                       overlap
 *  @param[in]  height   height of the points
 *  @param[in]  through  height of the points at which they meet: height + 1 or height - 1
 *  @param[out] nodes    new map; destroy it with TenonIndexMapDestroy()
 *  @param[out] edges    new edges; destroy them with TenonEdgesDestroy()
 *  @return PETSC_ERR_SUP             dm is not a DMPlex
 *  @return PETSC_ERR_ARG_OUTOFRANGE  there is no such height, or points do not meet at it
 */
TENON_EXTERN PetscErrorCode TenonPetscMeshFromPlex(DM dm, PetscInt height, PetscInt through,
                                                   TenonIndexMap* nodes,
                                                   TenonEdges* edges) TENON_NOEXCEPT;

/** @brief Creates the index map of a star forest. Collective on sf.
 *
 *  Roots are the nodes that a rank owns, and leaves its ghosts, in the order of the graph: the
 *  operator of the map fills the same leaves as PetscSFBcast with MPI_REPLACE, and its adjoint is
 *  PetscSFReduce with MPI_SUM.
 *
 *  @param[in]  sf     star forest with a graph
 *  @param[out] nodes  new map; destroy it with TenonIndexMapDestroy()
 *  @return PETSC_ERR_ARG_WRONGSTATE  the star forest has no graph
 */
TENON_EXTERN PetscErrorCode TenonPetscIndexMapFromSF(PetscSF sf,
                                                     TenonIndexMap* nodes) TENON_NOEXCEPT;
/**@}*/

/** @name Layers */
/**@{*/

/** @brief Evaluates a layer on vectors: y <- f(x). Collective on the layer.
 *
 *  Calls TenonLayerApply() on the arrays of the vectors, which are restored also after an error.
 *  The tensors around them are stored with the grids. Logged as the event TenonApply of
 *  -log_view, with flops and messages.
 *
 *  On a mesh, columns and rows are the DMPlex, and global vectors contain the rows of its points,
 *  see TenonPetscPlaceVec().
 *
 *  @param[in]  layer    layer of data type TENON_PETSC_SCALAR, set up for
 *                       TenonPetscLayoutFromDM(columns), or for a layout of a mesh's points
 *  @param[in]  columns  grid of the input
 *  @param[in]  x        global or local vector of columns
 *  @param[in]  rows     grid of the output. May be NULL, in which case y has on each rank the
 *                       elements of the rank's box in row-major order.
 *  @param[out] y        global or local vector of rows; of a local one the ghost points are left as
 *                       they are
 *  @return PETSC_ERR_ARG_SIZ  a vector has neither the size of a global one of its grid nor that of
 *                             a local one
 *  @return PETSC_ERR_LIB      TenonLayerApply() fails, as where the output has another layout than
 *                             rows
 */
TENON_EXTERN PetscErrorCode TenonPetscLayerApply(TenonLayer layer, DM columns, Vec x, DM rows,
                                                 Vec y) TENON_NOEXCEPT;

/** @brief Evaluates the adjoint on vectors: dx <- J* dy. Collective on the layer.
 *
 *  Calls TenonLayerApplyAdjoint(), which adds the gradients of the parameters and removes the
 *  evaluation from the pending ones. Logged as the event TenonAdjoint of -log_view.
 *
 *  @param[in]  layer    layer that TenonPetscLayerApply() has evaluated in training mode
 *  @param[in]  rows     grid of the output. May be NULL, in which case dy is in row-major order.
 *  @param[in]  dy       cotangent of the output, a vector of rows
 *  @param[in]  columns  grid of the input
 *  @param[out] dx       cotangent of the input, a vector of columns. May be NULL, in which case it
 *                       is not computed.
 */
TENON_EXTERN PetscErrorCode TenonPetscLayerApplyAdjoint(TenonLayer layer, DM rows, Vec dy,
                                                        DM columns, Vec dx) TENON_NOEXCEPT;
/**@}*/

/** @name Matrices */
/**@{*/

/** @brief Creates a matrix (MATSHELL) from an operator. Collective on the operator.
 *
 *  MatMult() applies the operator and MatMultTranspose() its adjoint; both work on the arrays of
 *  the vectors. Domain and range must contain each element once (layouts of S and R without
 *  halos).
 *
 *  @param[in]  op       operator, of data type TENON_PETSC_SCALAR on both sides; put casts
 *                       (TenonLinearOpCreateType()) on both sides of another in a composition. The
 *                       matrix holds a reference.
 *  @param[in]  rows     grid of the range. May be NULL, in which case a vector has on each rank the
 *                       elements of the rank's box in row-major order.
 *  @param[in]  columns  grid of the domain. May be NULL, in which case the same holds.
 *  @param[out] A        new matrix; destroy it with MatDestroy()
 *  @return PETSC_ERR_ARG_INCOMP  a layout is not that of its grid, or holds elements more than once
 *  @return PETSC_ERR_ARG_WRONG   the operator has another data type
 */
TENON_EXTERN PetscErrorCode TenonPetscMatFromLinearOp(TenonLinearOp op, DM rows, DM columns,
                                                      Mat* A) TENON_NOEXCEPT;

/** @brief Creates the Jacobian of a layer at a point as a matrix. Collective on the layer.
 *
 *  See TenonLinearOpCreateJacobian(): the parameters are constants, and pending evaluations and
 *  gradients of the layer are not changed.
 *
 *  @param[in]  layer    layer of data type TENON_PETSC_SCALAR, set up for
 *                       TenonPetscLayoutFromDM(columns)
 *  @param[in]  rows     grid of the output. May be NULL, in which case a vector has the blocks in
 *                       row-major order.
 *  @param[in]  columns  grid of the input
 *  @param[in]  x        point, a global vector of columns; can be modified afterwards
 *  @param[out] J        new matrix; destroy it with MatDestroy()
 */
TENON_EXTERN PetscErrorCode TenonPetscMatFromLayer(TenonLayer layer, DM rows, DM columns, Vec x,
                                                   Mat* J) TENON_NOEXCEPT;

/** @brief Moves a Jacobian to another point, with the layer's present parameters. Collective on J.
 *  @param[in] J  matrix of TenonPetscMatFromLayer(), or of an operator that is a Jacobian
 *  @param[in] x  new point, a vector of the columns
 *  @return PETSC_ERR_ARG_WRONG  J is not a matrix of Tenon */
TENON_EXTERN PetscErrorCode TenonPetscMatSetPoint(Mat J, Vec x) TENON_NOEXCEPT;

/** @brief Creates the blocks of a Jacobian with entries, for preconditioners. Collective on J.
 *
 *  For a pointwise network, such as columnmlp or convolutions with kernels of 1, whose Jacobian
 *  has one block over the channels for each point. Needs one product with J per channel, and one
 *  that verifies that the network is pointwise.
 *
 *  @param[in]  J  matrix of TenonPetscMatFromLayer() between grids of as many degrees of freedom
 *  @param[out] B  new matrix (MATBAIJ), equal to J at its present point; destroy it with
 *                 MatDestroy()
 *  @return PETSC_ERR_ARG_INCOMP  the network is not of this kind, or the grids have different
 *                                numbers of degrees of freedom
 *  @return PETSC_ERR_ARG_WRONG   J is not a matrix of Tenon between vectors of grids
 */
TENON_EXTERN PetscErrorCode TenonPetscMatAssembleBlocks(Mat J, Mat* B) TENON_NOEXCEPT;
/**@}*/

/** @name Parameters and objectives */
/**@{*/

/** @brief Creates a Vec with the values of a layer's parameters. Collective on the layer.
 *
 *  Each parameter is divided along its first dimension over the ranks of its process grid. A rank
 *  has its parts of all parameters, in their order (TenonLayerGetParameter()), each row-major.
 *
 *  @param[in]  layer  layer that is set up, of data type TENON_PETSC_SCALAR
 *  @param[out] p      new vector; destroy it with VecDestroy()
 */
TENON_EXTERN PetscErrorCode TenonPetscVecFromParameters(TenonLayer layer, Vec* p) TENON_NOEXCEPT;

/** @brief Sets the parameters of a layer from a Vec. Collective on the layer.
 *  @param[in] layer  layer that is set up
 *  @param[in] p      vector of TenonPetscVecFromParameters() */
TENON_EXTERN PetscErrorCode TenonPetscParametersFromVec(TenonLayer layer, Vec p) TENON_NOEXCEPT;

/** @brief Copies the gradients of a layer's parameters into a Vec. Collective on the layer.
 *
 *  The gradients are those that TenonPetscLayerApplyAdjoint() has accumulated since
 *  TenonLayerZeroGradients(), summed over the ranks (TenonLayerGetReducedGradient()).
 *
 *  @param[in] layer  layer that is set up
 *  @param[in] g      vector of TenonPetscVecFromParameters(), or a duplicate; overwritten
 */
TENON_EXTERN PetscErrorCode TenonPetscGradientsToVec(TenonLayer layer, Vec g) TENON_NOEXCEPT;

/** @brief Makes a loss the objective of TAO, over the layer's parameters. Collective on tao.
 *
 *  The solver's Vec is one of TenonPetscVecFromParameters(): pass it to TaoSetSolution(). An
 *  evaluation sets the parameters, applies the layer to x and, for the gradient, its adjoint; the
 *  layer's gradients are overwritten. After TaoSolve(), call TenonPetscParametersFromVec() to set
 *  the parameters to the solution, since the last evaluation can have been at another point.
 *
 *  @param[in] tao    solver
 *  @param[in] layer  layer with one output element (a network that ends in a loss with a target,
 *                    for example), set up for the layout of x. The solver holds a reference.
 *  @param[in] x      input. The solver holds a reference; it can be refilled between solves.
 *  @return PETSC_ERR_ARG_SIZ  the output has more than one element
 */
TENON_EXTERN PetscErrorCode TenonPetscTaoSetLoss(Tao tao, TenonLayer layer,
                                                 TenonDTensor x) TENON_NOEXCEPT;
/**@}*/

#endif
