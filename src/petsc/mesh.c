/* SPDX-License-Identifier: BSD-2-Clause */
/* Meshes of DMPlex, and any star forest (PetscSF), as Tenon's index maps and edges:
 *
 *   TenonPetscMeshFromPlex      nodes and edges of a graph: points of one height of the mesh, such
 *                               as cells, and the pairs of them that meet at a point of the next
 *                               height, such as a face
 *   TenonPetscIndexMapFromPlex  the nodes only
 *   TenonPetscIndexMapFromSF    the roots and leaves of a star forest
 *
 * An index map says which nodes a rank has: a list of global ids, first those of nodes that it
 * owns, then of nodes that it shares with their owner (ghosts). For example, cells 0, 1 on rank 0
 * and 2, 3 on rank 1, in a row, each rank with one ghost:
 *
 *     rank 0   ids 0 1 | 2       edges (target, source) by list position: 0-1, 1-0, 1-2
 *     rank 1   ids 2 3 | 1
 *
 * Ids are the numbers of DMPlexCreatePointNumbering(), which returns g on the owner and -(g+1) on
 * other ranks. Both parts of a list are in the order of the chart, which is that of global vectors.
 * If the mesh has no overlap, a rank does not know the cells of other ranks behind its own faces;
 * their ids are then exchanged through the star forest of the points. All public functions are
 * collective. The functions are declared in include/tenon_petsc.h. */
#include "shim.h"

#include <petscdmplex.h>

/* The points of one height (0: cells), which are the nodes. */
typedef struct Stratum {
  DM dm;
  MPI_Comm comm;
  PetscInt begin, end, chart[2]; /* ranges of the numbers of these points, and of all points */
  IS numbering;
  const PetscInt* numbers; /* g or -(g+1) of each point of the chart */
  TenonInt *ids, *places;  /* the list of ids; for each point its position in the list */
  TenonInt owned, count;   /* numbers of own nodes, and of all nodes in the list */
} Stratum;

static TenonInt IdOf(const Stratum* s, PetscInt point) {
  const PetscInt number = s->numbers[point - s->chart[0]];

  return number < 0 ? -(number + 1) : number;
}

/* Whether a point is a node. Meshes for finite volumes have cells beyond the boundary, which are
 * not in global vectors and not nodes. */
static PetscBool IsListed(const Stratum* s, PetscInt point) {
  return point >= s->begin && point < s->end ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool IsOwned(const Stratum* s, PetscInt point) {
  return s->numbers[point - s->chart[0]] >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* Sets s->ids and s->places: own points, then ghosts. Memory for `more` further ids is allocated,
 * for cells on the other side of faces. */
static PetscErrorCode ListPoints(Stratum* s, PetscInt more) {
  PetscInt p;
  int ghosts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->end - s->begin + more, &s->ids));
  PetscCall(PetscMalloc1(s->end - s->begin, &s->places));
  s->count = 0;
  for (ghosts = 0; ghosts < 2; ++ghosts) {
    for (p = s->begin; p < s->end; ++p)
      if (IsOwned(s, p) == (ghosts ? PETSC_FALSE : PETSC_TRUE)) {
        s->places[p - s->begin] = s->count;
        s->ids[s->count++] = IdOf(s, p);
      }
    if (!ghosts)
      s->owned = s->count;
  }
  PetscFunctionReturn(0);
}

/* Excludes the cells beyond the boundary (DMPlexConstructGhostCells()), which are the last. The
 * function that returns their range has different names in PETSc 3.18 and 3.19. */
static PetscErrorCode LeaveOutGhostCells(DM dm, PetscInt begin, PetscInt* end) {
  DMPolytopeType type = DM_POLYTOPE_FV_GHOST;

  PetscFunctionBegin;
  while (*end > begin) {
    PetscCall(DMPlexGetCellType(dm, *end - 1, &type));
    if (type != DM_POLYTOPE_FV_GHOST)
      break;
    --*end;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode OpenStratum(DM dm, PetscInt height, Stratum* s) {
  PetscBool isPlex;
  PetscInt depth;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof *s));
  s->dm = dm;
  PetscCall(CommOfObject((PetscObject)dm, &s->comm));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &isPlex));
  PetscCheck(isPlex, s->comm, PETSC_ERR_SUP,
             "a mesh is made of a DMPLEX; use TenonPetscLayoutFromDM() for a DMDA");
  PetscCall(DMPlexGetDepth(dm, &depth));
  PetscCheck(height >= 0 && height <= depth, s->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "height is %d, but the points of the mesh have heights from 0, cells, to %d, vertices",
             (int)height, (int)depth);
  PetscCall(DMPlexGetHeightStratum(dm, height, &s->begin, &s->end));
  if (height == 0)
    PetscCall(LeaveOutGhostCells(dm, s->begin, &s->end));
  PetscCall(DMPlexGetChart(dm, &s->chart[0], &s->chart[1]));
  PetscCall(DMPlexCreatePointNumbering(dm, &s->numbering));
  PetscCall(ISGetIndices(s->numbering, &s->numbers));
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseStratum(Stratum* s) {
  PetscFunctionBegin;
  if (s->numbering) {
    PetscCall(ISRestoreIndices(s->numbering, &s->numbers));
    PetscCall(ISDestroy(&s->numbering));
  }
  PetscCall(PetscFree(s->places));
  PetscCall(PetscFree(s->ids));
  PetscFunctionReturn(0);
}

/* --- edges */

/* The edges of a rank, appended as they are found. Target and source are positions in the list of
 * nodes; the key of an edge determines the order in which a target adds its edges. */
typedef struct EdgeList {
  TenonInt count, room;
  TenonInt *target, *source, *key;
} EdgeList;

static PetscErrorCode AddEdge(EdgeList* f, TenonInt target, TenonInt source, TenonInt key) {
  PetscFunctionBegin;
  PetscCheck(f->count < f->room, PETSC_COMM_SELF, PETSC_ERR_PLIB, "edges are not counted right");
  f->target[f->count] = target;
  f->source[f->count] = source;
  f->key[f->count++] = key;
  PetscFunctionReturn(0);
}

/* Returns the nodes that meet at a point. If they are cells and the point is a face, they are its
 * support (bySupport true); if they are vertices and the point is an edge of the mesh, its cone. */
static PetscErrorCode PointsAt(const Stratum* s, PetscBool bySupport, PetscInt point,
                               PetscInt* count, const PetscInt** points) {
  PetscFunctionBegin;
  if (bySupport) {
    PetscCall(DMPlexGetSupportSize(s->dm, point, count));
    PetscCall(DMPlexGetSupport(s->dm, point, points));
  } else {
    PetscCall(DMPlexGetConeSize(s->dm, point, count));
    PetscCall(DMPlexGetCone(s->dm, point, points));
  }
  PetscFunctionReturn(0);
}

/* Adds the edges between all pairs of nodes that meet at the point `through`, in both directions;
 * with withTargets only those to nodes that this rank owns. The key consists of the id of that
 * point and the ranks of both ids among those of the nodes there (first and second, below `most`),
 * so it is the same on all processes that have the edge. */
static PetscErrorCode AddEdgesAt(const Stratum* s, PetscBool bySupport, PetscBool withTargets,
                                 PetscInt through, PetscInt most, EdgeList* f) {
  const PetscInt* points;
  PetscInt count, i, j, k, first, second;

  PetscFunctionBegin;
  PetscCall(PointsAt(s, bySupport, through, &count, &points));
  for (i = 0; i < count; ++i)
    for (j = 0; j < count; ++j) {
      if (i == j || !IsListed(s, points[i]) || !IsListed(s, points[j]) ||
          (withTargets && !IsOwned(s, points[i])))
        continue;
      first = second = 0;
      for (k = 0; k < count; ++k) {
        first += IdOf(s, points[k]) < IdOf(s, points[i]);
        second += IdOf(s, points[k]) < IdOf(s, points[j]);
      }
      PetscCall(AddEdge(f, s->places[points[i] - s->begin], s->places[points[j] - s->begin],
                        (IdOf(s, through) * most + first) * most + second));
    }
  PetscFunctionReturn(0);
}

/* For each face t of the range `through`: own[t] <- the id of a cell of this rank at the face,
 * behind[t] <- that of a cell of another rank there; -1 if there is none. A face that two ranks
 * have is a root of the star forest on one and a leaf on the other, so each id is sent in the
 * direction of the other. */
static PetscErrorCode FindBehind(const Stratum* s, const PetscInt through[2], PetscInt* own,
                                 PetscInt* behind) {
  const PetscInt points = s->chart[1] - s->chart[0];
  PetscInt *fromLeaves, *fromRoot, t, roots, k, count;
  const PetscInt* cells;
  PetscSF sf;

  PetscFunctionBegin;
  for (t = 0; t < points; ++t)
    own[t] = behind[t] = -1;
  for (t = through[0]; t < through[1]; ++t) {
    PetscCall(PointsAt(s, PETSC_TRUE, t, &count, &cells));
    for (k = 0; k < count; ++k)
      if (IsListed(s, cells[k]) && IsOwned(s, cells[k]))
        own[t - s->chart[0]] = (PetscInt)IdOf(s, cells[k]);
  }
  PetscCall(DMGetPointSF(s->dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &roots, NULL, NULL, NULL));
  if (roots < 0) /* one rank has all points */
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(points, &fromLeaves, points, &fromRoot));
  for (t = 0; t < points; ++t)
    fromLeaves[t] = fromRoot[t] = -1;
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, own, fromLeaves, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, own, fromLeaves, MPI_MAX));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, own, fromRoot, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, own, fromRoot, MPI_REPLACE));
  for (t = 0; t < points; ++t)
    behind[t] = PetscMax(fromLeaves[t], fromRoot[t]);
  PetscCall(PetscFree2(fromLeaves, fromRoot));
  PetscFunctionReturn(0);
}

/* Adds the edges across faces at which this rank knows only one cell. The cell of another rank
 * behind the face becomes a ghost at the end of the list. */
static PetscErrorCode AddEdgesBehind(Stratum* s, const PetscInt through[2], PetscInt most,
                                     EdgeList* f) {
  PetscInt *own, *behind, t, count;
  const PetscInt* cells;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->chart[1] - s->chart[0], &own, s->chart[1] - s->chart[0], &behind));
  PetscCall(FindBehind(s, through, own, behind));
  for (t = through[0]; t < through[1]; ++t) {
    const TenonInt neighbourId = behind[t - s->chart[0]];

    PetscCall(PointsAt(s, PETSC_TRUE, t, &count, &cells));
    if (count != 1 || neighbourId < 0 || !IsOwned(s, cells[0]) || neighbourId == IdOf(s, cells[0]))
      continue;
    PetscCall(AddEdge(f, s->places[cells[0] - s->begin], s->count,
                      (IdOf(s, t) * most + (IdOf(s, cells[0]) > neighbourId)) * most +
                          (IdOf(s, cells[0]) < neighbourId)));
    /* If two cells meet at several faces, the id is in the list several times, as several copies.
     */
    s->ids[s->count++] = neighbourId;
  }
  PetscCall(PetscFree2(own, behind));
  PetscFunctionReturn(0);
}

/* Returns the largest number of nodes that meet at one point, on any rank, and an upper bound of
 * this rank's number of edges. */
static PetscErrorCode CountAt(const Stratum* s, PetscBool bySupport, const PetscInt through[2],
                              PetscInt* most, TenonInt* edges) {
  const PetscInt* points;
  PetscInt t, count, ownMax = 2;

  PetscFunctionBegin;
  *edges = through[1] - through[0]; /* one across each face */
  for (t = through[0]; t < through[1]; ++t) {
    PetscCall(PointsAt(s, bySupport, t, &count, &points));
    ownMax = PetscMax(ownMax, count);
    *edges += (TenonInt)count * (count - 1);
  }
  PetscCallMPI(MPI_Allreduce(&ownMax, most, 1, MPIU_INT, MPI_MAX, s->comm));
  PetscFunctionReturn(0);
}

/* With withTargets, each rank has all edges to its own nodes. Otherwise it has the edges between
 * nodes in its list; several ranks can have the same edge, and each takes an equal part of it
 * (TenonEdgesCreateShared()). */
static PetscErrorCode CreateMesh(Stratum* s, PetscBool bySupport, PetscBool withTargets,
                                 const PetscInt through[2], EdgeList* f, TenonIndexMap* nodes,
                                 TenonEdges* edges) {
  PetscInt most, t;
  TenonErrorCode result;

  PetscFunctionBegin;
  PetscCall(ListPoints(s, bySupport ? through[1] - through[0] : 0));
  PetscCall(CountAt(s, bySupport, through, &most, &f->room));
  PetscCall(PetscMalloc3(f->room, &f->target, f->room, &f->source, f->room, &f->key));
  for (t = through[0]; t < through[1]; ++t)
    PetscCall(AddEdgesAt(s, bySupport, withTargets, t, most, f));
  if (bySupport)
    PetscCall(AddEdgesBehind(s, through, most, f));
  TenonPetscCall(TenonIndexMapCreateFromIds(s->comm, s->owned, s->count, s->ids, nodes));
  result = withTargets ? TenonEdgesCreate(*nodes, *nodes, f->count, f->target, f->source, f->key,
                                          NULL, edges)
                       : TenonEdgesCreateShared(*nodes, *nodes, f->count, f->target, f->source,
                                                f->key, NULL, NULL, edges);
  if (result != TENON_SUCCESS)
    TenonPetscCall(TenonIndexMapDestroy(nodes));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* Returns the range of the points of height `through`, at which nodes meet. */
static PetscErrorCode FindThrough(const Stratum* s, PetscInt height, PetscInt through,
                                  PetscInt at[2]) {
  PetscInt depth;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(s->dm, &depth));
  PetscCheck(through >= 0 && through <= depth && PetscAbsInt(through - height) == 1, s->comm,
             PETSC_ERR_ARG_OUTOFRANGE,
             "through is %d, but points of height %d meet at those of the height above or below, "
             "of 0 to %d",
             (int)through, (int)height, (int)depth);
  PetscCall(DMPlexGetHeightStratum(s->dm, through, &at[0], &at[1]));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMeshFromPlex(DM dm, PetscInt height, PetscInt through,
                                      TenonIndexMap* nodes, TenonEdges* edges) {
  const PetscBool bySupport = through > height ? PETSC_TRUE : PETSC_FALSE;
  PetscInt at[2], overlap = 0;
  PetscErrorCode code;
  EdgeList list = {0, 0, NULL, NULL, NULL};
  Stratum s;

  PetscFunctionBegin;
  NEED_OBJECT(dm, DM_CLASSID);
  NEED_ADDRESS(nodes);
  NEED_ADDRESS(edges);
  PetscCall(CheckInitialized());
  code = OpenStratum(dm, height, &s);
  if (!code)
    code = FindThrough(&s, height, through, at);
  if (!code)
    code = DMPlexGetOverlap(dm, &overlap);
  /* A rank has all cells at the faces of its own cells, or gets their ids. At other points that
   * it owns, cells and their edges can be missing, unless there is an overlap. */
  if (!code)
    code = CreateMesh(&s, bySupport, bySupport || overlap > 0 ? PETSC_TRUE : PETSC_FALSE, at, &list,
                      nodes, edges);
  PetscCall(PetscFree3(list.target, list.source, list.key));
  PetscCall(CloseStratum(&s));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscIndexMapFromPlex(DM dm, PetscInt height, TenonIndexMap* nodes) {
  TenonErrorCode result = TENON_SUCCESS;
  PetscErrorCode code;
  Stratum s;

  PetscFunctionBegin;
  NEED_OBJECT(dm, DM_CLASSID);
  NEED_ADDRESS(nodes);
  PetscCall(CheckInitialized());
  code = OpenStratum(dm, height, &s);
  if (!code)
    code = ListPoints(&s, 0);
  if (!code)
    result = TenonIndexMapCreateFromIds(s.comm, s.owned, s.count, s.ids, nodes);
  PetscCall(CloseStratum(&s));
  PetscCall(code);
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* --- star forests */

/* The ids of a rank's roots are consecutive, and leaves get theirs from their roots. */
PetscErrorCode TenonPetscIndexMapFromSF(PetscSF sf, TenonIndexMap* nodes) {
  PetscInt roots, leaves, first = 0, n, low, high;
  PetscInt *numbers, *received;
  const PetscInt* places;
  TenonInt* ids;
  TenonErrorCode result;
  MPI_Comm comm;

  PetscFunctionBegin;
  NEED_OBJECT(sf, PETSCSF_CLASSID);
  NEED_ADDRESS(nodes);
  PetscCall(CheckInitialized());
  PetscCall(CommOfObject((PetscObject)sf, &comm));
  PetscCall(PetscSFGetGraph(sf, &roots, &leaves, &places, NULL));
  PetscCheck(roots >= 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "the star forest has no graph; call PetscSFSetGraph()");
  PetscCall(PetscSFGetLeafRange(sf, &low, &high));
  PetscCallMPI(MPI_Exscan(&roots, &first, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscMalloc3(roots, &numbers, PetscMax(high + 1, 0), &received, roots + leaves, &ids));
  for (n = 0; n < roots; ++n)
    ids[n] = numbers[n] = first + n;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, numbers, received, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, numbers, received, MPI_REPLACE));
  for (n = 0; n < leaves; ++n)
    ids[roots + n] = received[places ? places[n] : n];
  result = TenonIndexMapCreateFromIds(comm, roots, roots + leaves, ids, nodes);
  PetscCall(PetscFree3(numbers, received, ids));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}
