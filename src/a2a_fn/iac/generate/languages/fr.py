"""French."""

from __future__ import annotations

from types import MappingProxyType

from a2a_fn.iac.generate.languages import Language

TERMS = {
    "num:0": "zero",
    "num:1": "l'un|l'une|l'autre|un seul|une seule|un unique|une unique|exactement un|exactement "
    "une",
    "num:2": "deux|une paire de|les deux",
    "num:3": "trois",
    "num:4": "quatre",
    "num:5": "cinq",
    "num:6": "six",
    "num:7": "sept",
    "num:8": "huit",
    "num:9": "neuf",
    "num:10": "dix",
    "num:11": "onze",
    "num:12": "douze|une douzaine de|une douzaine",
    "num:13": "treize",
    "num:14": "quatorze",
    "num:15": "quinze",
    "num:16": "seize",
    "num:20": "vingt",
    "num:30": "trente",
    "num:40": "quarante",
    "num:50": "cinquante",
    "num:60": "soixante",
    "times:100": "cent|une centaine de",
    "times:1000": "mille|un millier de",
    "times:1000000": "million|un million|un million de|millions de",
    "times:1000000000": "milliard|un milliard de|milliards de",
    "a": "un|une|un autre|une autre|un nouveau|une nouvelle|qu'un|qu'une",
    "some": "des|plusieurs|quelques|de multiples|divers",
    "the": "le|la|les|l'|ce|cet|cette|ces|son|sa|ses|leur|leurs|du|au|aux|de la|de l'|ledit",
    "each": "chaque|chacun|chacune|par|pour chaque|dans chaque|dans chacune des|chacun des",
    "neg": "sans|pas de|pas d'|pas|aucun|aucune|ni|ne|n'|non|jamais|sans aucun|sans aucune|hors"
    "|excepte|sauf|surtout pas|d'aucune|d'aucun|eviter",
    "and": "et|ainsi que|aussi|egalement|plus|puis|de meme que|avec aussi|et puis",
    "or": "ou",
    "create": "creation|creation de|mise en place|mise en place de|cree|creer|creez|cree moi"
    "|cree-moi|faire|fais|faites|generer|genere|generez|ecrire|ecris|ecrivez|je veux|je voudrais"
    "|j'aimerais|il me faut|il faut|il nous faut|besoin|j'ai besoin|nous voulons|construire"
    "|construis|ajouter|ajoute|ajoutez|preparer|prepare|donne moi|donne-moi|mettre en place|mets "
    "en place|concevoir|produire|definir|monter|configurer|je souhaite|nous souhaitons|nous "
    "avons besoin|veux|voudrais|utiliser|utilise|comprenant|contenant|crees",
    "deploy": "deploiement|deploiement de|deployer|deploie|deployez|lancer|lance|lancez"
    "|provisionner|provisionne|demarrer",
    "destroy": "supprimer|supprime|supprimez|detruire|detruis|detruisez|effacer|efface|enlever"
    "|enleve|retirer|retire|liberer|resilier|desinstaller",
    "change": "modifier|modifie|modifiez|changer|change|changez|mettre a jour|mets a jour|renommer"
    "|redimensionner|migrer|redemarrer|arreter|arrete|eteindre|remplacer|remplace|mise a jour"
    "|importer|convertir|convertis|deplacer|verifier|reviser",
    "ask": "quel|quelle|quels|quelles|comment|pourquoi|qu'est ce que|qu'est ce qu'|explique"
    "|expliquer|decris|quoi|difference|c'est quoi|quand|lister",
    "open": "ouvrir|ouvre|ouvrez|ouvert|ouverte|ouverts|ouvertes|autoriser|autorise|autorisez"
    "|permettre|permet|permets|exposer|expose|exposee|exposees|exposes|accepter|accepte"
    "|autorisant|ouvrant|laisser passer|accessible|joignable|autorisee|autorises|autorisees",
    "close": "bloquer|bloque|bloquez|interdire|interdis|refuser|refuse|fermer|ferme|fermez",
    "port": "port|ports|port tcp",
    "service:3389 RDP": "bureau a distance",
    "allports": "tous les ports|tout le trafic|n'importe quel port|tous ports",
    "from": "depuis|a partir de|a partir du|en provenance de|en provenance du|venant de|venant du"
    "|provenant de|provenant du|source",
    "to": "a|vers|jusqu'a|jusque",
    "in": "dans|en|sur|a l'interieur de|a l'interieur du|au sein du|au sein de|a travers",
    "with": "avec|ayant|dont|muni de|munie de|dote de|dotee de|equipe de|incluant|derriere|pour|via"
    "|attache a|attachee a|associe a|associee a|lie a|liee a|qui|sous|executant|faisant tourner"
    "|possedant",
    "of": "de|d'",
    "world": "internet|l'internet|a internet|n'importe ou|partout|le monde|le monde entier|tout "
    "le monde|l'exterieur|reseau public|le public|toutes les adresses|toute adresse|public "
    "internet|toutes les ip|publiquement",
    "inside": "interne|en interne|l'interieur du vpc|a l'interieur du vpc|reseau interne|le vpc "
    "seulement",
    "mine": "mon ip|mon bureau|le bureau|bureau|mon reseau|notre reseau|nos bureaux|mon adresse ip"
    "|les administrateurs|administrateurs|bastion|vpn",
    "outbound": "acces internet|acces a internet|acces sortant|acces internet sortant|sortie "
    "internet|sortie vers internet|acceder a internet|accede a internet|trafic sortant|connexion "
    "sortante|un acces internet|un acces a internet|un acces internet sortant|sortant vers "
    "internet|une sortie internet|acces a l'internet|sortir sur internet|sortant|un acces sortant"
    "|sortie sur internet",
    "public": "public|publique|publics|publiques|exposee sur internet|accessible publiquement"
    "|accessible depuis internet|accessibles depuis internet|exposee a internet",
    "private": "prive|privee|prives|privees|isole|isolee|isolees|isoles|non publique|non public",
    "encrypted": "chiffre|chiffree|chiffres|chiffrees|chiffrement|chiffrer|crypte|cryptee|cryptes"
    "|cryptees|chiffrement au repos|chiffrement des disques|disque chiffre|disques chiffres"
    "|chiffre au repos",
    "plain": "non chiffre|non chiffree|non chiffres|non chiffrees",
    "kms": "chiffrement kms|avec kms|chiffre par kms|chiffre avec kms",
    "purpose": "afin que|afin de|pour que|de sorte que|de facon a|de maniere a",
    "ha": "zones differentes|zones distinctes|des zones differentes|haute disponibilite|hautement "
    "disponible|hautement disponibles|multi zone|multizone|plusieurs zones|multi zones|tolerant "
    "aux pannes|a haute disponibilite|en haute disponibilite|plusieurs zones de disponibilite",
    "versioned": "versionne|versionnee|versionnes|versionnement|versionnage|gestion des versions"
    "|versioning",
    "protect": "protection contre la suppression|protection de suppression",
    "secret": "mot de passe|mots de passe|cle d'acces|cle secrete|jeton|identifiants",
    "keypair": "paire de cles|paire de clefs|cle ssh|cles ssh|clef ssh|paire de cles ssh|cle "
    "publique",
    "engine:SQLServer": "serveur sql",
    "version": "version|en version",
    "unit:cpu": "coeur|coeurs|vcpu|cpu|processeur|processeurs",
    "unit:gb": "go|gio|giga",
    "unit:tb": "to|tio",
    "unit:mbps": "mbit/s|mb/s|megabits|mbps",
    "memory": "memoire|ram|memoire vive|de ram|de memoire",
    "disk": "disque|disque systeme|stockage|espace disque|volume|de disque|de stockage",
    "datadisk": "disque de donnees|disques de donnees|volume de donnees",
    "zone": "zone|zones|zone de disponibilite|zones de disponibilite",
    "samezone": "la meme zone|meme zone",
    "region": "region",
    "region:ap-southeast-1": "singapour",
    "region:ap-northeast-1": "tokyo|japon",
    "region:eu-central-1": "francfort|allemagne",
    "region:eu-west-1": "londres",
    "region:cn-beijing": "pekin",
    "region:cn-hongkong": "hong kong",
    "region:us-east-1": "virginie",
    "region:me-east-1": "dubai",
    "format:terraform": "terraform|au format terraform|format terraform|code terraform",
    "format:ros": "ros|modele ros|au format ros|gabarit ros",
    "named": "nomme|nommee|nommes|nommees|appele|appelee|appeles|appelees|intitule|intitulee|nom"
    "|du nom de|s'appelle|s'appelant|baptise|baptisee|ayant pour nom",
    "existing": "existant|existante|existants|existantes|deja existant|actuel|actuelle",
    "unsupported": "repartiteur de charge|equilibreur de charge|load balancer|cache|file de "
    "messages|table de routage|enregistrement dns|certificat|sauvegarde|supervision|conteneur"
    "|conteneurs|passerelle vpn|groupe de mise a l'echelle|fonction|role ram",
    "stop": "s'il te plait|s'il vous plait|svp|stp|bonjour|salut|bonsoir|merci|je|j'|me|moi|nous"
    "|vous|tu|on|il|elle|ils|elles|y|est|sont|soit|etre|doit|doivent|peut|peuvent|pouvez|peux"
    "|peux tu|pouvez vous|pourrais tu|pourriez vous|que|qu'|se|s'|comme|alors|donc|ici|seulement"
    "|uniquement|juste|tout|toute|tous|toutes|nouveau|nouvelle|nouvelles|nouveaux|simple|simples"
    "|petit|petite|alibaba cloud|alibaba|aliyun|cloud|nuage|infrastructure|pile|modele|gabarit"
    "|template|yaml|fichier|ressource|code|exemple|reseau|cidr|bloc cidr|plage|plage d'adresses"
    "|bloc|adresse|adresses|ipv4|regle|regles|entrant|entrante|entrantes|regle entrante|acces"
    "|trafic|connexion|bande passante|moteur|type|taille|compte|au total|total|format|au format"
    "|en tout|environnement|mon|ma|mes|notre|nos|votre|vos|avoir|a un|a une|ont|ait|aient"
    "|passerelle|snat|service|chacun d'eux|place|places|placee|placees|situe|situee|situes"
    "|situees|reparti|repartis|repartie|reparties|cela|ca|ceci|mais|base sur|defaut|par defaut"
    "|au moins|lui|leur propre|propre|propres|reparties sur|suivant|suivante|suivants|repos"
    "|d'adresse|d'adresses|d'abord|c'est|utilisant|ip|d'ip|donnees",
}

SAYS = {
    "made": "{format} pour {things}.",
    "made-ros": "Modèle ROS",
    "made-terraform": "Configuration Terraform",
    "and": " et ",
    "choose": "À choisir au déploiement : {parameters}.",
    "assumptions": "Hypothèses :",
    "unread": "Mots non compris, donc absents du résultat : {words}.",
    "blocked": "Rien n'a été généré. Merci de répondre d'abord :",
    "vpc-range": "Aucune plage n'était donnée pour le VPC : {ranges}.",
    "plural-is-two": "Aucun nombre n'était donné pour les {kinds} : deux.",
    "dealt": "{count} {kinds} sont réparti(e)s à tour de rôle sur les {vpcs} VPC.",
    "zones-spread": "Les vSwitchs sont répartis sur {zones} zones, à votre choix.",
    "vswitch-exposure": "Un vSwitch n'est en soi ni public ni privé : le mot est dans son nom, une "
    "passerelle NAT se place dans un vSwitch public, et le SNAT sert les vSwitchs privés.",
    "security-group-closed": "Aucun port entrant n'est ouvert. Dites par exemple : autoriser ssh "
    "depuis 203.0.113.0/24.",
    "protected-from-world": "NON ouvert à tout Internet : {port}. Il serait attaqué en quelques "
    "minutes ; sa source est donc le paramètre {admin}, à votre choix.",
    "protected-port": "{port} n'est ouvert qu'au paramètre {admin}, à votre choix.",
    "web-port-world": "Aucune source n'était donnée pour {port} : ouvert à Internet (0.0.0.0/0).",
    "port-vpc-only": "Aucune source n'était donnée pour {port} : ouvert dans le VPC seulement "
    "({cidr}).",
    "source-is-stack": "{port} était demandé depuis d'autres ressources de la pile : ouvert dans "
    "le VPC ({cidr}).",
    "ecs-encrypted": "Dans ROS, les disques d'ALIYUN::ECS::Instance ne peuvent être chiffrés : "
    "chaque instance chiffrée est un ALIYUN::ECS::InstanceGroup d'une instance.",
    "disk-is-data": "Un disque système a {limit} Gio au plus : les {size} Gio sont un disque de "
    "données.",
    "instance-type": "{cpu} vCPU et {memory} Gio : {type} est le type d'instance par défaut.",
    "private-no-way-out": "Les instances privées n'ont pas de sortie vers Internet. Dites : avec "
    "un accès Internet sortant, pour une passerelle NAT.",
    "eip-unbound": "Rien ne dit à quoi sert l'EIP : elle n'est liée à rien.",
    "eip-count": "{eips} EIP pour {hosts} hôte(s) : liées dans l'ordre, tant qu'il y en a.",
    "bucket-stays-private": "NON rendu public : le bucket est privé et l'accès public est bloqué. "
    "Publiez par URL signée ou par CDN, ou levez le blocage en connaissance de cause.",
    "bucket-stays-encrypted": "Le bucket est tout de même chiffré en AES256 ; cela ne coûte rien.",
    "kept-on-deletion": "Les {kinds} sont conservés si la pile est supprimée (Retain, "
    "prevent_destroy).",
    "kept-with-network": "Les {kinds} sont conservées si la pile est supprimée (Retain, "
    "prevent_destroy), et donc aussi leur VPC et leurs vSwitchs.",
    "database-engine": "La base est {engine} {version}, pour ce que vous n'avez pas précisé.",
    "region-ros": "Un modèle ROS n'a pas de région propre : créez la pile dans {region}.",
    "region-terraform": "La région {region} est la valeur par défaut de la variable region.",
    "secret-hidden": "Un mot de passe ou une clé dans la demande n'est ni utilisé ni répété : les "
    "secrets sont des paramètres.",
    "nothing-deployed": "Ce sont des fichiers ; rien n'a été créé dans votre compte.",
    "nothing-asked": "Que souhaitez-vous ? J'écris des modèles ROS et Terraform pour VPC, "
    "vSwitch, groupe de sécurité, ECS, EIP, passerelle NAT, OSS et RDS. Par exemple : un VPC "
    "avec deux vSwitchs et une instance ECS qui autorise https depuis Internet.",
    "informational": "J'écris des modèles et n'explique pas les produits. Quelles ressources le "
    "modèle doit-il contenir ? Par exemple : un VPC avec deux vSwitchs.",
    "no-changes": "« {word} » : j'écris seulement de nouveaux modèles ; je ne modifie ni ne "
    "supprime rien d'existant. Quelles nouvelles ressources le modèle doit-il contenir ?",
    "existing": "« {word} » : j'écris seulement des piles entières et nouvelles, et ne vois pas "
    "ce qui existe. Puis-je en créer une nouvelle ?",
    "too-long": "La demande a {count} caractères ; {limit} au plus sont lus. Pouvez-vous "
    "l'abréger ?",
    "either-or": "« {first} » ou « {second} » ? Je ne choisis pas à votre place.",
    "two-formats": "ROS ou Terraform ? J'en écris un à la fois.",
    "two-regions": "{first} ou {second} ? Une pile se trouve dans une seule région.",
    "public-and-private": "Public ou privé pour : {kind} ? Vous avez dit les deux.",
    "said-twice": "{first} ou {second} pour : {kind} ? Vous avez dit les deux.",
    "parts-exceed": "Vous demandez {count} {kinds} et en décrivez {given}. Combien en faut-il ?",
    "asked-and-banned": "Vous demandez et excluez à la fois : {kind}. Que faut-il retenir ?",
    "needed-and-banned": "Impossible de créer : {by} sans : {kind}, que vous excluez. Que faut-il "
    "laisser ?",
    "none-asked": "Combien de {kinds} faut-il ?",
    "too-many": "{count} {kinds}, c'est trop pour un modèle ; {limit} au plus. Combien en faut-il "
    "?",
    "too-many-resources": "La demande représente {count} ressources ; {limit} au plus par modèle. "
    "Pouvez-vous la diviser ?",
    "too-many-zones": "Aucune région n'offre {count} zones ; {limit} au plus. Combien en faut-il ?",
    "zones-exceed-vswitches": "Un vSwitch se trouve dans une seule zone : {count} ne peuvent "
    "couvrir {zones} zones. Combien de vSwitchs ?",
    "zone-outside-region": "La zone {zone} n'est pas dans la région {region}. Laquelle est la "
    "bonne ?",
    "name-count": "{given} noms pour {count} {kinds}. Comment s'appellent-ils ?",
    "name-invalid": "« {name} » ne peut pas être le nom : {kind}. Quel nom faut-il ? (Lettres, "
    "chiffres, tirets ; pour un bucket, 3 à 63 minuscules.)",
    "cidr-invalid": "« {cidr} » n'est pas une plage IPv4. Laquelle voulez-vous dire ?",
    "cidr-host-bits": "{cidr} a des bits d'hôte non nuls. Est-ce {network} ?",
    "cidr-count": "{given} plages pour {count} {kinds}. Laquelle pour lequel ?",
    "cidr-reserved": "{cidr} est réservée et ne peut être la plage d'un VPC. Quelle plage privée ?",
    "mask": "{kind} ne peut être {cidr} : son masque va de /{low} à /{high}. Quelle plage ?",
    "vswitch-outside-vpc": "Le vSwitch {cidr} n'est pas dans le VPC {vpc}. Lequel des deux est "
    "juste ?",
    "vswitch-overlap": "Les vSwitchs {cidr} et {other} se chevauchent. Quelles plages ?",
    "does-not-fit": "{count} vSwitchs en /{mask} ne tiennent pas dans {vpc}. Un VPC plus grand, "
    "ou moins de vSwitchs ?",
    "port-range": "{low}-{high} n'est pas une plage de ports (1-65535). Quels ports ?",
    "port-open-and-closed": "{port} doit-il être ouvert ou fermé ? Vous avez dit les deux.",
    "gb-ambiguous": "{size} Go de mémoire, ou de disque ?",
    "no-such-size": "Pas d'instance courante avec {cpu} vCPU et {memory} Gio. {near_cpu} vCPU et "
    "{near_memory} Gio, cela convient-il ?",
    "disk-size": "Un disque de {size} Gio n'existe pas ({low} à {high}). Quelle taille ?",
    "bandwidth": "Un débit de {size} Mbit/s n'existe pas ({low} à {high}). Combien ?",
    "database-public": "Je ne place pas de base de données sur Internet. Peut-elle être privée, "
    "jointe depuis son VPC ?",
    "database-storage": "Le stockage d'une base va de {low} à {high} Go par pas de 5, pas {size}. "
    "Combien ?",
    "engine-version": "{engine} {version} n'est pas proposé ici (connus : {known}). Quelle "
    "version ?",
    "engine-not-encrypted": "{engine} ne propose pas le chiffrement des disques. Un autre moteur, "
    "ou sans chiffrement ?",
    "ha-needs-two-zones": "Une base répartie sur deux zones demande des vSwitchs dans deux zones. "
    "En faut-il deux ?",
}

LANGUAGE = Language(
    code="fr",
    terms=MappingProxyType(TERMS),
    says=MappingProxyType(SAYS),
    comma=", ",
    colon=" : ",
)
